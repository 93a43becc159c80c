CREATE TABLE "agent_points" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"hash" "bytea" NOT NULL,
	"key_id" uuid NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"client" text COLLATE "C" NOT NULL,
	"metric" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"tokens" bigint,
	"operations" bigint,
	"duration_seconds" numeric,
	"told" numeric,
	"model" text COLLATE "C",
	"response_model" text COLLATE "C",
	"system" text COLLATE "C",
	"provider" text COLLATE "C",
	"operation" text COLLATE "C",
	"agent" text COLLATE "C",
	"server_address" text COLLATE "C",
	"server_port" text COLLATE "C",
	"error_type" text COLLATE "C",
	"sdk_name" text COLLATE "C",
	"sdk_language" text COLLATE "C",
	"sdk_version" text COLLATE "C",
	"cost_usd" numeric,
	"unpriced" boolean NOT NULL,
	"price" jsonb,
	"started_at" timestamptz(3),
	"ended_at" timestamptz(3) NOT NULL,
	"received_at" timestamptz(3) NOT NULL,
	CONSTRAINT "agent_points_org_id_hash_pk" PRIMARY KEY("org_id","hash")
);
--> statement-breakpoint
CREATE TABLE "dropped_names" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"day" date NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"id" uuid NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	CONSTRAINT "dropped_names_org_id_key_id_day_kind_name_pk" PRIMARY KEY("org_id","key_id","day","kind","name")
);
--> statement-breakpoint
CREATE INDEX "agent_points_ended_at" ON "agent_points" USING btree ("org_id","ended_at");--> statement-breakpoint
CREATE UNIQUE INDEX "dropped_names_id" ON "dropped_names" USING btree ("org_id","id");