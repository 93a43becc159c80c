CREATE TABLE "export_destinations" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"endpoint" text COLLATE "C" NOT NULL,
	"allow_private_network" boolean NOT NULL,
	"bucket" text COLLATE "C" NOT NULL,
	"region" text COLLATE "C" NOT NULL,
	"prefix" text COLLATE "C" NOT NULL,
	"format" text COLLATE "C" NOT NULL,
	"access_key_id" text COLLATE "C" NOT NULL,
	"secret" text COLLATE "C" NOT NULL,
	"enabled" boolean NOT NULL,
	"done_until" timestamptz(3) NOT NULL,
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "export_destinations_org_id_pk" PRIMARY KEY("org_id")
);
