CREATE TABLE "scim_group_members" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"group_id" uuid NOT NULL,
	"person_id" uuid NOT NULL,
	CONSTRAINT "scim_group_members_org_id_group_id_person_id_pk" PRIMARY KEY("org_id","group_id","person_id")
);
--> statement-breakpoint
CREATE TABLE "scim_groups" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"external_id" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "scim_groups_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE INDEX "scim_group_members_person" ON "scim_group_members" USING btree ("org_id","person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "scim_groups_name" ON "scim_groups" USING btree ("org_id","name");