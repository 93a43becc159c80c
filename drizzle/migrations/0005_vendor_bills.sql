CREATE TABLE "vendor_accounts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"vendor" text COLLATE "C" NOT NULL,
	"credential" text COLLATE "C",
	"base_url" text COLLATE "C",
	"allow_private_network" boolean NOT NULL,
	"providers" text[] COLLATE "C",
	"keys" text[] COLLATE "C",
	"models" jsonb NOT NULL,
	"time_zone" text COLLATE "C" NOT NULL,
	"rates" jsonb NOT NULL,
	"enabled" boolean NOT NULL,
	"fetched_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "vendor_accounts_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "vendor_bill_days" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"account" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"read_at" timestamptz(3) NOT NULL,
	CONSTRAINT "vendor_bill_days_org_id_account_day_pk" PRIMARY KEY("org_id","account","day")
);
--> statement-breakpoint
CREATE TABLE "vendor_bill_lines" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"account" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"line" integer NOT NULL,
	"category" text COLLATE "C" NOT NULL,
	"item" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C",
	"kind" text COLLATE "C",
	"tier" text COLLATE "C",
	"key" text COLLATE "C",
	"quantity" numeric,
	"amount" numeric,
	"currency" text COLLATE "C" NOT NULL,
	"rate" numeric,
	CONSTRAINT "vendor_bill_lines_org_id_account_day_line_pk" PRIMARY KEY("org_id","account","day","line")
);
