CREATE TABLE "guardrails" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"enabled" boolean NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"match" jsonb NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"message" text COLLATE "C",
	"callout" jsonb,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "guardrails_org_id_name_pk" PRIMARY KEY("org_id","name")
);
