CREATE TABLE "limit_turns" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"turn" bigint NOT NULL,
	CONSTRAINT "limit_turns_org_id_key_id_pk" PRIMARY KEY("org_id","key_id")
);
