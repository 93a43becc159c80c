CREATE TABLE "refresh_tokens" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"sha256" "bytea" NOT NULL,
	"key_expires_at" timestamptz(3) NOT NULL,
	"used_at" timestamptz(3),
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "refresh_tokens_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "program" text COLLATE "C";--> statement-breakpoint
CREATE UNIQUE INDEX "refresh_tokens_sha256" ON "refresh_tokens" USING btree ("org_id","sha256");--> statement-breakpoint
CREATE INDEX "refresh_tokens_key" ON "refresh_tokens" USING btree ("org_id","key_id");