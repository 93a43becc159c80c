CREATE TABLE "statements" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"by" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"closed_at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"content" jsonb NOT NULL,
	CONSTRAINT "statements_org_id_month_by_version_pk" PRIMARY KEY("org_id","month","by","version")
);
