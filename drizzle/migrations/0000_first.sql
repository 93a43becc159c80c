CREATE TABLE "installations" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" bigint NOT NULL,
	"account_login" text COLLATE "C" NOT NULL,
	"account_id" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"changed_at" timestamptz(3) NOT NULL,
	CONSTRAINT "installations_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "pull_requests" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"author_login" text COLLATE "C",
	"author_is_bot" boolean DEFAULT false NOT NULL,
	"opened_at" timestamptz(3),
	"merged_at" timestamptz(3),
	"merge_commit_sha" text COLLATE "C",
	"link" text COLLATE "C" NOT NULL,
	"session_ids" text[] COLLATE "C" NOT NULL,
	"session" text COLLATE "C",
	"body_sha256" text COLLATE "C",
	"body_at" timestamptz(3),
	"edited_after_merge" boolean DEFAULT false NOT NULL,
	"reverts_by_branch" integer,
	"reverts_by_body" jsonb NOT NULL,
	"reverts_by_sha" text[] COLLATE "C" NOT NULL,
	"evidence" jsonb NOT NULL,
	CONSTRAINT "pull_requests_org_id_repository_id_number_pk" PRIMARY KEY("org_id","repository_id","number")
);
--> statement-breakpoint
CREATE TABLE "repositories" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" bigint NOT NULL,
	"installation_id" bigint,
	"full_name" text COLLATE "C" NOT NULL,
	"former_names" jsonb NOT NULL,
	"covered" boolean DEFAULT true NOT NULL,
	"changed_at" timestamptz(3) NOT NULL,
	CONSTRAINT "repositories_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "reviews" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"id" bigint NOT NULL,
	"number" integer NOT NULL,
	"reviewer_login" text COLLATE "C",
	"submitted_at" timestamptz(3) NOT NULL,
	"dismissed" boolean DEFAULT false NOT NULL,
	"session_ids" text[] COLLATE "C" NOT NULL,
	"session" text COLLATE "C",
	"body_at" timestamptz(3),
	CONSTRAINT "reviews_org_id_repository_id_id_pk" PRIMARY KEY("org_id","repository_id","id")
);
--> statement-breakpoint
CREATE TABLE "webhook_inbox" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"delivery_id" text COLLATE "C" NOT NULL,
	"event" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C",
	"occurred_at" timestamptz(3) NOT NULL,
	"received_at" timestamptz(3) NOT NULL,
	"facts" jsonb NOT NULL,
	"processed_at" timestamptz(3),
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text COLLATE "C",
	CONSTRAINT "webhook_inbox_org_id_delivery_id_pk" PRIMARY KEY("org_id","delivery_id")
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"sha256" "bytea" NOT NULL,
	"last_four" text COLLATE "C" NOT NULL,
	"expires_at" timestamptz(3),
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "key_secrets_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"scopes" jsonb NOT NULL,
	"limits" jsonb,
	"expires_at" timestamptz(3),
	"revoked_at" timestamptz(3),
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "keys_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"provider" text COLLATE "C",
	"model" text COLLATE "C" NOT NULL,
	"effective_from" timestamptz(3) NOT NULL,
	"input" numeric NOT NULL,
	"output" numeric NOT NULL,
	"cached_input" numeric,
	"cache_write_5m" numeric,
	"cache_write_1h" numeric,
	"per_image" numeric,
	"per_character" numeric,
	"per_call" numeric,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "prices_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "dead_records" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"key_id" uuid,
	"started_at" timestamptz(3),
	"parked_at" timestamptz(3) NOT NULL,
	"code" text COLLATE "C" NOT NULL,
	CONSTRAINT "dead_records_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "requests" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"started_at" timestamptz(3) NOT NULL,
	"surface" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"status" smallint,
	"error_type" text COLLATE "C",
	"streamed" boolean NOT NULL,
	"attempts" smallint NOT NULL,
	"route" text COLLATE "C" NOT NULL,
	"route_source" text COLLATE "C" NOT NULL,
	"classifier_version" text COLLATE "C",
	"guardrail" text COLLATE "C",
	"provider" text COLLATE "C",
	"model" text COLLATE "C",
	"response_model" text COLLATE "C",
	"service_tier" text COLLATE "C",
	"provider_request_id" text COLLATE "C",
	"key_id" uuid NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"client" text COLLATE "C" NOT NULL,
	"tags" text[] COLLATE "C" NOT NULL,
	"agent_id" text COLLATE "C",
	"parent_agent_id" text COLLATE "C",
	"latency_ms" integer,
	"ttft_ms" integer,
	"usage_source" text COLLATE "C" NOT NULL,
	"input_tokens" integer,
	"uncached_input_tokens" integer,
	"cache_read_tokens" integer,
	"cache_write_5m_tokens" integer,
	"cache_write_1h_tokens" integer,
	"output_tokens" integer,
	"reasoning_tokens" integer,
	"audio_input_tokens" integer,
	"audio_output_tokens" integer,
	"images" integer,
	"characters" integer,
	"documents" integer,
	"search_units" integer,
	"web_searches" integer,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"unpriced" boolean NOT NULL,
	"partial" boolean NOT NULL,
	"price" jsonb,
	CONSTRAINT "requests_org_id_id_started_at_pk" PRIMARY KEY("org_id","id","started_at")
) PARTITION BY RANGE ("started_at");
--> statement-breakpoint
CREATE TABLE "requests_default" PARTITION OF "requests" DEFAULT;
--> statement-breakpoint
CREATE TABLE "directory_versions" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"version" integer NOT NULL,
	CONSTRAINT "directory_versions_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "providers" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"base_url" text COLLATE "C",
	"credential" text COLLATE "C",
	"headers" jsonb NOT NULL,
	"models" jsonb,
	"responses" boolean DEFAULT true NOT NULL,
	"trusted_for_passthrough" boolean DEFAULT false NOT NULL,
	"allow_private_network" boolean DEFAULT false NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "providers_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "routes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"surface" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"fallbacks" jsonb NOT NULL,
	"description" text COLLATE "C" DEFAULT '' NOT NULL,
	"examples" jsonb NOT NULL,
	"keywords" jsonb NOT NULL,
	"guardrails" jsonb NOT NULL,
	"body_capture" boolean DEFAULT false NOT NULL,
	"subscription_passthrough" boolean DEFAULT false NOT NULL,
	"usage_chunk" text COLLATE "C" DEFAULT 'withhold' NOT NULL,
	"on_client_gone" text COLLATE "C" DEFAULT 'drain' NOT NULL,
	"refuse_with" text COLLATE "C" DEFAULT 'block' NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "routes_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"value" jsonb NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "settings_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE INDEX "pull_requests_merged_at" ON "pull_requests" USING btree ("org_id","merged_at");--> statement-breakpoint
CREATE INDEX "pull_requests_session" ON "pull_requests" USING btree ("org_id","session");--> statement-breakpoint
CREATE INDEX "reviews_submitted_at" ON "reviews" USING btree ("org_id","submitted_at");--> statement-breakpoint
CREATE INDEX "webhook_inbox_pending" ON "webhook_inbox" USING btree ("org_id","processed_at","occurred_at");--> statement-breakpoint
CREATE UNIQUE INDEX "key_secrets_sha256" ON "key_secrets" USING btree ("org_id","sha256");--> statement-breakpoint
CREATE INDEX "key_secrets_key" ON "key_secrets" USING btree ("org_id","key_id");--> statement-breakpoint
CREATE UNIQUE INDEX "keys_name" ON "keys" USING btree ("org_id","name");--> statement-breakpoint
CREATE INDEX "prices_model" ON "prices" USING btree ("org_id","model","effective_from");--> statement-breakpoint
CREATE INDEX "requests_started_at" ON "requests" USING brin ("started_at") WITH (pages_per_range=32);--> statement-breakpoint
CREATE INDEX "requests_session" ON "requests" USING btree ("org_id","session","started_at") WHERE "requests"."session" is not null;--> statement-breakpoint
CREATE INDEX "requests_provider_request_id" ON "requests" USING btree ("org_id","provider_request_id") WHERE "requests"."provider_request_id" is not null;