CREATE TABLE "batches" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"key_id" uuid NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"endpoint" text COLLATE "C" NOT NULL,
	"input_file_id" text COLLATE "C",
	"output_file_id" text COLLATE "C",
	"error_file_id" text COLLATE "C",
	"completion_window" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"facts" jsonb NOT NULL,
	"requests_total" integer,
	"created_at" timestamptz(3) NOT NULL,
	"deleted_at" timestamptz(3),
	"record_id" uuid NOT NULL,
	"started_at" timestamptz(3) NOT NULL,
	"routes" text[] COLLATE "C" NOT NULL,
	"models" text[] COLLATE "C" NOT NULL,
	"direct" boolean DEFAULT false NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"client" text COLLATE "C" NOT NULL,
	"tags" text[] COLLATE "C" NOT NULL,
	"agent_id" text COLLATE "C",
	"parent_agent_id" text COLLATE "C",
	"reconciled_at" timestamptz(3),
	"cost_usd" numeric,
	"partial" boolean DEFAULT false NOT NULL,
	"next_check_at" timestamptz(3) NOT NULL,
	"checks" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "batches_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "files" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"key_id" uuid NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"purpose" text COLLATE "C" NOT NULL,
	"filename" text COLLATE "C",
	"bytes" bigint,
	"status" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"expires_at" timestamptz(3),
	"deleted_at" timestamptz(3),
	"endpoint" text COLLATE "C",
	"routes" text[] COLLATE "C" NOT NULL,
	"models" text[] COLLATE "C" NOT NULL,
	"direct" boolean DEFAULT false NOT NULL,
	CONSTRAINT "files_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE INDEX "batches_key" ON "batches" USING btree ("org_id","key_id","started_at","id");--> statement-breakpoint
CREATE INDEX "batches_due" ON "batches" USING btree ("next_check_at") WHERE "batches"."reconciled_at" is null;--> statement-breakpoint
CREATE INDEX "files_key" ON "files" USING btree ("org_id","key_id","created_at","id");