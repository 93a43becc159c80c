CREATE TABLE "hook_policies" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"enabled" boolean NOT NULL,
	"client" text COLLATE "C",
	"tool" text COLLATE "C" NOT NULL,
	"server" text COLLATE "C",
	"action" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "hook_policies_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "mcp_servers" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"credential" text COLLATE "C",
	"credential_header" text COLLATE "C",
	"tools" jsonb NOT NULL,
	"price_per_call" numeric,
	"prices" jsonb NOT NULL,
	"allow_private_network" boolean NOT NULL,
	"enabled" boolean NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "mcp_servers_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "tool_calls" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"origin" text COLLATE "C" NOT NULL,
	"external_id" text COLLATE "C" NOT NULL,
	"id" uuid NOT NULL,
	"started_at" timestamptz(3) NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"rank" smallint NOT NULL,
	"decided_at" timestamptz(3) NOT NULL,
	"key_id" uuid NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"client" text COLLATE "C" NOT NULL,
	"session" text COLLATE "C",
	"tags" text[] COLLATE "C" NOT NULL,
	"server" text COLLATE "C",
	"tool" text COLLATE "C",
	"latency_ms" integer,
	"cost_usd" numeric,
	"error_code" text COLLATE "C",
	CONSTRAINT "tool_calls_org_id_origin_external_id_pk" PRIMARY KEY("org_id","origin","external_id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "tool_calls_id" ON "tool_calls" USING btree ("org_id","id");--> statement-breakpoint
CREATE INDEX "tool_calls_started_at" ON "tool_calls" USING brin ("started_at") WITH (pages_per_range=32);--> statement-breakpoint
CREATE INDEX "tool_calls_session" ON "tool_calls" USING btree ("org_id","session","started_at") WHERE "tool_calls"."session" is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_pending" ON "tool_calls" USING btree ("org_id","started_at") WHERE "tool_calls"."status" = 'pending';