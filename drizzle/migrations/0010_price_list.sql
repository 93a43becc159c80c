CREATE TABLE "price_list_changes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"effective_from" timestamptz(3),
	"entry" jsonb NOT NULL,
	"before" jsonb,
	"seen_at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C",
	"decided_at" timestamptz(3),
	CONSTRAINT "price_list_changes_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "price_list_fetches" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"fetched_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "price_list_fetches_org_id_pk" PRIMARY KEY("org_id")
);
