CREATE TABLE "audit_entries" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	CONSTRAINT "audit_entries_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "captured_bodies" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"request_id" uuid NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"captured_at" timestamptz(3) NOT NULL,
	"expires_at" timestamptz(3) NOT NULL,
	CONSTRAINT "captured_bodies_org_id_request_id_pk" PRIMARY KEY("org_id","request_id")
);
--> statement-breakpoint
CREATE INDEX "captured_bodies_expires_at" ON "captured_bodies" USING btree ("expires_at");