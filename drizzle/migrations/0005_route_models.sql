CREATE TABLE "route_models" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"version" text COLLATE "C" NOT NULL,
	"model" "bytea" NOT NULL,
	"report" jsonb NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "route_models_org_id_version_pk" PRIMARY KEY("org_id","version")
);
