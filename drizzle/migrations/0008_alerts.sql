CREATE TABLE "alert_states" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"alert" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"delivery_id" uuid NOT NULL,
	"content" jsonb NOT NULL,
	"raised_at" timestamptz(3) NOT NULL,
	"seen_at" timestamptz(3) NOT NULL,
	"sent_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "alert_states_org_id_alert_state_pk" PRIMARY KEY("org_id","alert","state")
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"on" text[] COLLATE "C" NOT NULL,
	"to" jsonb NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"enabled" boolean NOT NULL,
	"last_sent_at" timestamptz(3),
	"failure" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "alerts_org_id_name_pk" PRIMARY KEY("org_id","name")
);
