CREATE TABLE "saved_reports" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C" NOT NULL,
	"spec" jsonb NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "saved_reports_org_id_id_pk" PRIMARY KEY("org_id","id")
);
