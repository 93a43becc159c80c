CREATE TABLE "discounts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"percent" numeric NOT NULL,
	"effective_from" timestamptz(3) NOT NULL,
	"effective_to" timestamptz(3),
	"models" text[] COLLATE "C",
	"tiers" text[] COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "discounts_org_id_id_pk" PRIMARY KEY("org_id","id")
);
