CREATE TABLE "device_sign_ins" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"device_code_sha256" "bytea" NOT NULL,
	"user_code_sha256" "bytea" NOT NULL,
	"program" text COLLATE "C",
	"device_name" text COLLATE "C",
	"address" text COLLATE "C",
	"state" text COLLATE "C" DEFAULT 'pending' NOT NULL,
	"person_id" uuid,
	"polled_at" timestamptz(3),
	"expires_at" timestamptz(3) NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "device_sign_ins_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "device_sign_ins_device_code" ON "device_sign_ins" USING btree ("org_id","device_code_sha256");--> statement-breakpoint
CREATE UNIQUE INDEX "device_sign_ins_user_code" ON "device_sign_ins" USING btree ("org_id","user_code_sha256");--> statement-breakpoint
CREATE INDEX "device_sign_ins_expires" ON "device_sign_ins" USING btree ("org_id","expires_at");