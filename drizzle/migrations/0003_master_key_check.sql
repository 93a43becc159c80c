CREATE TABLE "master_key_checks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	CONSTRAINT "master_key_checks_org_id_pk" PRIMARY KEY("org_id")
);
