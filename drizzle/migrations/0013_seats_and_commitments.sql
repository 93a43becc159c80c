CREATE TABLE "commitments" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"models" text[] COLLATE "C",
	"amount_usd" numeric NOT NULL,
	"worth_usd" numeric,
	"effective_from" timestamptz(3) NOT NULL,
	"effective_to" timestamptz(3) NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "commitments_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "seats" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"person" text COLLATE "C" NOT NULL,
	"vendor" text COLLATE "C" NOT NULL,
	"plan" text COLLATE "C" NOT NULL,
	"monthly_usd" numeric NOT NULL,
	"effective_from" timestamptz(3) NOT NULL,
	"effective_to" timestamptz(3),
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "seats_org_id_id_pk" PRIMARY KEY("org_id","id")
);
