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
	"reported" numeric,
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
CREATE TABLE "audit_entries" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"address" text COLLATE "C",
	"request_id" uuid,
	"before" jsonb,
	"after" jsonb,
	CONSTRAINT "audit_entries_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
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
	"agent_session" text COLLATE "C",
	"parent_session" text COLLATE "C",
	"client" text COLLATE "C" NOT NULL,
	"tags" text[] COLLATE "C" NOT NULL,
	"agent_id" text COLLATE "C",
	"parent_agent_id" text COLLATE "C",
	"reconciled_at" timestamptz(3),
	"cost_usd" numeric,
	"cost_basis" text COLLATE "C",
	"discounted_cost_usd" numeric,
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
CREATE TABLE "kept_answers" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"key_id" uuid NOT NULL,
	"previous_id" text COLLATE "C",
	"sealed" text COLLATE "C" NOT NULL,
	"expires_at" timestamptz(3) NOT NULL,
	CONSTRAINT "kept_answers_org_id_id_pk" PRIMARY KEY("org_id","id")
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
CREATE TABLE "digest_webhooks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"allow_private_network" boolean NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "digest_webhooks_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "digests" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"due_on" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"due_at" timestamptz(3) NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"delivery_id" uuid NOT NULL,
	"content" jsonb,
	"sent_at" timestamptz(3),
	"remote_id" bigint,
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "digests_org_id_due_on_channel_pk" PRIMARY KEY("org_id","due_on","channel")
);
--> statement-breakpoint
CREATE TABLE "github_feedback" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"remote_id" bigint,
	"head_sha" text COLLATE "C",
	"seen_at" timestamptz(3),
	"shown" text COLLATE "C",
	"shown_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "github_feedback_org_id_kind_repository_id_number_pk" PRIMARY KEY("org_id","kind","repository_id","number")
);
--> statement-breakpoint
CREATE TABLE "pull_request_commits" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"read_at" timestamptz(3),
	"claims" jsonb NOT NULL,
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "pull_request_commits_org_id_repository_id_number_pk" PRIMARY KEY("org_id","repository_id","number")
);
--> statement-breakpoint
CREATE TABLE "coverage_changes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"installation_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	"at" timestamptz(3) NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	CONSTRAINT "coverage_changes_org_id_installation_id_repository_id_at_kind_pk" PRIMARY KEY("org_id","installation_id","repository_id","at","kind")
);
--> statement-breakpoint
CREATE TABLE "github_apps" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"app_id" bigint NOT NULL,
	"slug" text COLLATE "C" NOT NULL,
	"owner_login" text COLLATE "C",
	"html_url" text COLLATE "C" NOT NULL,
	"api_url" text COLLATE "C" NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "github_apps_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "github_waits" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"installation_id" bigint NOT NULL,
	"until" timestamptz(3) NOT NULL,
	CONSTRAINT "github_waits_org_id_installation_id_pk" PRIMARY KEY("org_id","installation_id")
);
--> statement-breakpoint
CREATE TABLE "refused_redeliveries" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"delivery_id" text COLLATE "C" NOT NULL,
	"status" integer NOT NULL,
	"refused_at" timestamptz(3) NOT NULL,
	CONSTRAINT "refused_redeliveries_org_id_delivery_id_pk" PRIMARY KEY("org_id","delivery_id")
);
--> statement-breakpoint
CREATE TABLE "used_setup_links" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"token_sha256" text COLLATE "C" NOT NULL,
	"expires_at" timestamptz(3) NOT NULL,
	CONSTRAINT "used_setup_links_org_id_token_sha256_pk" PRIMARY KEY("org_id","token_sha256")
);
--> statement-breakpoint
CREATE TABLE "webhook_answers" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"answer" text COLLATE "C" NOT NULL,
	"answered_at" timestamptz(3) NOT NULL,
	CONSTRAINT "webhook_answers_org_id_answer_pk" PRIMARY KEY("org_id","answer")
);
--> statement-breakpoint
CREATE TABLE "github_passes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"installation_id" bigint NOT NULL,
	"watermark" timestamptz(3),
	"phase" text COLLATE "C" DEFAULT 'idle' NOT NULL,
	"page" integer DEFAULT 1 NOT NULL,
	"stop_at" timestamptz(3),
	"reach_at" timestamptz(3),
	"started_at" timestamptz(3),
	"finished_at" timestamptz(3),
	"due_at" timestamptz(3) NOT NULL,
	"pulls" integer DEFAULT 0 NOT NULL,
	"reviews" integer DEFAULT 0 NOT NULL,
	"failure" text COLLATE "C",
	"etag" text COLLATE "C",
	CONSTRAINT "github_passes_org_id_repository_id_pk" PRIMARY KEY("org_id","repository_id")
);
--> statement-breakpoint
CREATE TABLE "github_tasks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"done_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "github_tasks_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "installations" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" bigint NOT NULL,
	"account_login" text COLLATE "C" NOT NULL,
	"account_id" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"changed_at" timestamptz(3) NOT NULL,
	"permissions" jsonb,
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
	"body_edited" boolean DEFAULT false NOT NULL,
	"edited_after_merge" boolean DEFAULT false NOT NULL,
	"reverts_by_branch" integer,
	"reverts_by_body" jsonb NOT NULL,
	"reverts_by_sha" text[] COLLATE "C" NOT NULL,
	"evidence" jsonb NOT NULL,
	"author_association" text COLLATE "C",
	"from_fork" boolean,
	"accepted_session" text COLLATE "C",
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
	"is_private" boolean,
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
	"body_edited" boolean DEFAULT false NOT NULL,
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
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "webhook_inbox_org_id_delivery_id_pk" PRIMARY KEY("org_id","delivery_id")
);
--> statement-breakpoint
CREATE TABLE "guardrails" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"enabled" boolean NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"match" jsonb NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"message" text COLLATE "C",
	"callout" jsonb,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "guardrails_org_id_name_pk" PRIMARY KEY("org_id","name")
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
CREATE TABLE "key_spend" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"day" date NOT NULL,
	"usd" numeric NOT NULL,
	CONSTRAINT "key_spend_org_id_key_id_day_pk" PRIMARY KEY("org_id","key_id","day")
);
--> statement-breakpoint
CREATE TABLE "limit_holders" (
	"holder" uuid PRIMARY KEY NOT NULL,
	"seen_at" timestamptz(3) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "limit_holds" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"call_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"holder" uuid NOT NULL,
	"started_at" timestamptz(3) NOT NULL,
	"usd" numeric NOT NULL,
	"ended" boolean DEFAULT false NOT NULL,
	CONSTRAINT "limit_holds_org_id_call_id_pk" PRIMARY KEY("org_id","call_id")
);
--> statement-breakpoint
CREATE TABLE "limit_leases" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"holder" uuid NOT NULL,
	"period" date NOT NULL,
	"usd" numeric NOT NULL,
	"calls" integer NOT NULL,
	CONSTRAINT "limit_leases_org_id_key_id_holder_pk" PRIMARY KEY("org_id","key_id","holder")
);
--> statement-breakpoint
CREATE TABLE "limit_rates" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"slot" bigint NOT NULL,
	"requests" integer NOT NULL,
	"tokens" bigint NOT NULL,
	CONSTRAINT "limit_rates_org_id_key_id_slot_pk" PRIMARY KEY("org_id","key_id","slot")
);
--> statement-breakpoint
CREATE TABLE "limit_turns" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"turn" bigint NOT NULL,
	CONSTRAINT "limit_turns_org_id_key_id_pk" PRIMARY KEY("org_id","key_id")
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"provider" text COLLATE "C",
	"model" text COLLATE "C" NOT NULL,
	"effective_from" timestamptz(3) NOT NULL,
	"tier" text COLLATE "C" DEFAULT 'standard' NOT NULL,
	"multiplier" numeric,
	"input" numeric,
	"output" numeric,
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
	"error_cause" text COLLATE "C",
	"streamed" boolean NOT NULL,
	"attempts" smallint NOT NULL,
	"route" text COLLATE "C" NOT NULL,
	"route_source" text COLLATE "C" NOT NULL,
	"classifier_version" text COLLATE "C",
	"guardrail" text COLLATE "C",
	"provider" text COLLATE "C",
	"model" text COLLATE "C",
	"response_model" text COLLATE "C",
	"model_mismatch" boolean DEFAULT false NOT NULL,
	"service_tier" text COLLATE "C",
	"provider_request_id" text COLLATE "C",
	"key_id" uuid NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"agent_session" text COLLATE "C",
	"parent_session" text COLLATE "C",
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
	"dropped_members" integer,
	"image_input_tokens" integer,
	"image_output_tokens" integer,
	"search_sources" integer,
	"variant" text COLLATE "C",
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"cost_basis" text COLLATE "C",
	"list_cost_usd" numeric,
	"discounted_cost_usd" numeric,
	"unpriced" boolean NOT NULL,
	"partial" boolean NOT NULL,
	"price" jsonb,
	"kept_id" text COLLATE "C",
	CONSTRAINT "requests_org_id_id_started_at_pk" PRIMARY KEY("org_id","id","started_at")
) PARTITION BY RANGE ("started_at");
--> statement-breakpoint
CREATE TABLE "requests_default" PARTITION OF "requests" DEFAULT;
--> statement-breakpoint
CREATE TABLE "reprice_jobs" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"from_at" timestamptz(3) NOT NULL,
	"to_at" timestamptz(3) NOT NULL,
	"dry_run" boolean NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"address" text COLLATE "C",
	"request_id" text COLLATE "C",
	"unpriced_records" integer NOT NULL,
	"old_cost_usd" numeric NOT NULL,
	"checked_records" integer DEFAULT 0 NOT NULL,
	"repriced_records" integer DEFAULT 0 NOT NULL,
	"added_cost_usd" numeric DEFAULT '0' NOT NULL,
	"last_started_at" timestamptz(3),
	"last_id" uuid,
	"finished_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "reprice_jobs_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "saved_reports" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C" NOT NULL,
	"spec" jsonb NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "saved_reports_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "rollup_active_days" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"who" uuid NOT NULL,
	"month" date NOT NULL,
	"days" integer NOT NULL,
	"billed_days" integer NOT NULL,
	"hours" "bytea" NOT NULL,
	"billed_hours" "bytea" NOT NULL,
	CONSTRAINT "rollup_active_days_org_id_who_month_pk" PRIMARY KEY("org_id","who","month")
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "rollup_distinct_deltas" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"entity" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"lane" smallint NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"previous" date NOT NULL,
	"day" date NOT NULL,
	"n" integer NOT NULL,
	"firsts" integer[] NOT NULL,
	CONSTRAINT "rollup_distinct_deltas_org_id_entity_kind_lane_day_value_previous_pk" PRIMARY KEY("org_id","entity","kind","lane","day","value","previous")
);
--> statement-breakpoint
CREATE TABLE "rollup_hours" (
	"hour" timestamptz(3) NOT NULL,
	"day" date NOT NULL,
	"cell" integer NOT NULL,
	"key_id" uuid NOT NULL,
	"late" uuid,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"tags" text[] COLLATE "C" NOT NULL,
	"model" text COLLATE "C",
	"route" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric,
	CONSTRAINT "rollup_hours_org_id_hour_cell_pk" PRIMARY KEY("org_id","hour","cell")
);
--> statement-breakpoint
CREATE TABLE "rollup_marks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"hour" timestamptz(3) NOT NULL,
	"id" uuid NOT NULL,
	CONSTRAINT "rollup_marks_org_id_hour_id_pk" PRIMARY KEY("org_id","hour","id")
);
--> statement-breakpoint
CREATE TABLE "rollup_sessions" (
	"day" date NOT NULL,
	"cell" integer NOT NULL,
	"hours" integer NOT NULL,
	"key_id" uuid NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"tags" text[] COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric,
	CONSTRAINT "rollup_sessions_org_id_day_cell_pk" PRIMARY KEY("org_id","day","cell")
);
--> statement-breakpoint
CREATE TABLE "rollup_state" (
	"org_id" text COLLATE "C" PRIMARY KEY DEFAULT 'default' NOT NULL,
	"rolled_to" timestamptz(3) NOT NULL,
	"raw_from" timestamptz(3)
);
--> statement-breakpoint
CREATE TABLE "rollup_sums" (
	"at" timestamptz(3) NOT NULL,
	"cell" integer NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"active_hours" integer NOT NULL,
	"billed_hours" integer NOT NULL,
	"sessions" integer NOT NULL,
	"billed_sessions" integer NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"grain" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric,
	"session_cost_usd" numeric,
	"first_session_at" timestamptz(3),
	"first_tag_at" timestamptz(3),
	CONSTRAINT "rollup_sums_org_id_kind_grain_at_cell_pk" PRIMARY KEY("org_id","kind","grain","at","cell")
);
--> statement-breakpoint
CREATE TABLE "route_models" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"version" text COLLATE "C" NOT NULL,
	"model" "bytea" NOT NULL,
	"report" jsonb NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "route_models_org_id_version_pk" PRIMARY KEY("org_id","version")
);
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
	"subscription_passthrough" boolean DEFAULT false NOT NULL,
	"subscription_models" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"allow_private_network" boolean DEFAULT false NOT NULL,
	"default_for" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"stream_options" boolean,
	"first_byte_timeout_seconds" integer,
	"idle_timeout_seconds" integer,
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
	"inexpressible" text COLLATE "C" DEFAULT 'refuse' NOT NULL,
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
CREATE TABLE "session_agents" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	"agent_session" text COLLATE "C" NOT NULL,
	CONSTRAINT "session_agents_org_id_session_agent_session_pk" PRIMARY KEY("org_id","session","agent_session")
);
--> statement-breakpoint
CREATE TABLE "session_links" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	"of_session" text COLLATE "C" NOT NULL,
	"task" text COLLATE "C",
	"counts" boolean NOT NULL,
	"key_id" uuid NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"declared_at" timestamptz(3) NOT NULL,
	CONSTRAINT "session_links_org_id_session_of_session_pk" PRIMARY KEY("org_id","session","of_session")
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
CREATE INDEX "requests_kept_id" ON "requests" USING btree ("org_id","kept_id") WHERE "requests"."kept_id" is not null;--> statement-breakpoint
CREATE INDEX "pull_requests_unlinked" ON "pull_requests" USING btree ("org_id","repository_id","number") WHERE "pull_requests"."link" in ('unknown_session', 'claimed');--> statement-breakpoint
CREATE INDEX "agent_points_ended_at" ON "agent_points" USING btree ("org_id","ended_at");--> statement-breakpoint
CREATE UNIQUE INDEX "dropped_names_id" ON "dropped_names" USING btree ("org_id","id");--> statement-breakpoint
CREATE INDEX "batches_key" ON "batches" USING btree ("org_id","key_id","started_at","id");--> statement-breakpoint
CREATE INDEX "batches_due" ON "batches" USING btree ("next_check_at") WHERE "batches"."reconciled_at" is null;--> statement-breakpoint
CREATE INDEX "files_key" ON "files" USING btree ("org_id","key_id","created_at","id");--> statement-breakpoint
CREATE INDEX "kept_answers_expires_at" ON "kept_answers" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "captured_bodies_expires_at" ON "captured_bodies" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "coverage_changes_repository" ON "coverage_changes" USING btree ("org_id","repository_id");--> statement-breakpoint
CREATE INDEX "pull_requests_merged_at" ON "pull_requests" USING btree ("org_id","merged_at");--> statement-breakpoint
CREATE INDEX "pull_requests_session" ON "pull_requests" USING btree ("org_id","session");--> statement-breakpoint
CREATE INDEX "reviews_submitted_at" ON "reviews" USING btree ("org_id","submitted_at");--> statement-breakpoint
CREATE INDEX "webhook_inbox_pending" ON "webhook_inbox" USING btree ("org_id","processed_at","occurred_at");--> statement-breakpoint
CREATE UNIQUE INDEX "key_secrets_sha256" ON "key_secrets" USING btree ("org_id","sha256");--> statement-breakpoint
CREATE INDEX "key_secrets_key" ON "key_secrets" USING btree ("org_id","key_id");--> statement-breakpoint
CREATE UNIQUE INDEX "keys_name" ON "keys" USING btree ("org_id","name");--> statement-breakpoint
CREATE INDEX "limit_holds_key" ON "limit_holds" USING btree ("org_id","key_id");--> statement-breakpoint
CREATE INDEX "limit_holds_holder" ON "limit_holds" USING btree ("holder");--> statement-breakpoint
CREATE INDEX "prices_model" ON "prices" USING btree ("org_id","model","effective_from");--> statement-breakpoint
CREATE INDEX "requests_started_at" ON "requests" USING brin ("started_at") WITH (pages_per_range=32);--> statement-breakpoint
CREATE INDEX "requests_session" ON "requests" USING btree ("org_id","session","started_at") WHERE "requests"."session" is not null;--> statement-breakpoint
CREATE INDEX "requests_provider_request_id" ON "requests" USING btree ("org_id","provider_request_id") WHERE "requests"."provider_request_id" is not null;--> statement-breakpoint
CREATE INDEX "rollup_hours_session" ON "rollup_hours" USING btree ("org_id","session") WHERE "rollup_hours"."session" is not null;--> statement-breakpoint
CREATE INDEX "rollup_sessions_session" ON "rollup_sessions" USING btree ("org_id","session") WHERE "rollup_sessions"."session" is not null;--> statement-breakpoint
CREATE INDEX "session_agents_agent" ON "session_agents" USING btree ("org_id","agent_session");--> statement-breakpoint
CREATE UNIQUE INDEX "session_links_counts" ON "session_links" USING btree ("org_id","session") WHERE "session_links"."counts";--> statement-breakpoint
CREATE INDEX "session_links_of" ON "session_links" USING btree ("org_id","of_session");--> statement-breakpoint
CREATE UNIQUE INDEX "tool_calls_id" ON "tool_calls" USING btree ("org_id","id");--> statement-breakpoint
CREATE INDEX "tool_calls_started_at" ON "tool_calls" USING brin ("started_at") WITH (pages_per_range=32);--> statement-breakpoint
CREATE INDEX "tool_calls_session" ON "tool_calls" USING btree ("org_id","session","started_at") WHERE "tool_calls"."session" is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_pending" ON "tool_calls" USING btree ("org_id","started_at") WHERE "tool_calls"."status" = 'pending';--> statement-breakpoint
-- What is spent is the sum of the records, whoever writes them; keys in order, so that two writers never wait for each other in a circle.
CREATE FUNCTION "book_new_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "key_id", ("started_at" AT TIME ZONE 'UTC')::date, sum("cost_usd") FROM "booked"
	WHERE "cost_usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	DELETE FROM "limit_holds" "hold" USING "booked"
	WHERE "hold"."org_id" = "booked"."org_id" AND "hold"."call_id" = "booked"."id";
	INSERT INTO "session_agents" ("org_id", "session", "agent_session")
	SELECT DISTINCT "org_id", "session", "agent" FROM "booked", LATERAL (VALUES ("agent_session"), ("parent_session")) AS "own" ("agent")
	WHERE "agent" <> "session" ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "book_changed_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "key_id", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "started_at", "channel", "cost_usd" AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "started_at", "channel", -"cost_usd" FROM "before"
	) "changed"
	WHERE "usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "requests_book_new" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "booked"
	FOR EACH STATEMENT EXECUTE FUNCTION "book_new_records"();--> statement-breakpoint
CREATE TRIGGER "requests_book_changed" AFTER UPDATE ON "requests" REFERENCING OLD TABLE AS "before" NEW TABLE AS "after"
	FOR EACH STATEMENT EXECUTE FUNCTION "book_changed_records"();--> statement-breakpoint
-- A histogram of latencies as one number, so that sums of it are those of the histograms: twelve decimals for each bucket, those
-- of the lowest first. Buckets are four to an octave, from 8 ms on, so none is wider than 18.9 % (10 ms below 10 ms).
CREATE FUNCTION "latency_histogram"("latency_ms" integer) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT ('{1e-12,1e-24,1e-36,1e-48,1e-60,1e-72,1e-84,1e-96,1e-108,1e-120,1e-132,1e-144,1e-156,1e-168,1e-180,1e-192,1e-204,1e-216,1e-228,1e-240,1e-252,1e-264,1e-276,1e-288,1e-300,1e-312,1e-324,1e-336,1e-348,1e-360,1e-372,1e-384,1e-396,1e-408,1e-420,1e-432,1e-444,1e-456,1e-468,1e-480,1e-492,1e-504,1e-516,1e-528,1e-540,1e-552,1e-564,1e-576,1e-588,1e-600,1e-612,1e-624,1e-636,1e-648,1e-660,1e-672,1e-684,1e-696,1e-708,1e-720,1e-732,1e-744,1e-756,1e-768,1e-780,1e-792,1e-804,1e-816,1e-828,1e-840,1e-852,1e-864,1e-876,1e-888,1e-900,1e-912}'::numeric[])[1 + width_bucket(latency_ms, array[10,12,14,16,20,23,27,32,39,46,54,64,77,91,108,128,153,182,216,256,305,363,431,512,609,725,862,1024,1218,1449,1723,2048,2436,2897,3445,4096,4871,5793,6889,8192,9742,11586,13778,16384,19484,23171,27555,32768,38968,46341,55109,65536,77936,92682,110218,131072,155872,185364,220436,262144,311744,370728,440872,524288,623488,741456,881744,1048576,1246975,1482911,1763488,2097152,2493949,2965821,3526976])]
$$;--> statement-breakpoint
-- The 95th percentile of such a histogram: linear between the two nearest ranks, and each of these linear within its bucket. Over
-- 70 minutes it reads as at most that. Buckets are looked at from the highest down until both ranks are found. The number of all
-- calls is the remainder by 10^12 - 1, as by nine of a sum of digits.
CREATE FUNCTION "latency_p95"("latencies" numeric) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
	digits text := substr(latencies::text, 3);
	calls CONSTANT bigint := mod(latencies * ('1e' || length(digits))::numeric, 999999999999);
	place CONSTANT bigint := 19 * (calls - 1) / 20;
	weight CONSTANT float8 := (19 * (calls - 1) % 20) / 20.0::float8;
	before bigint := calls;
	bucket integer;
	n bigint;
	low integer;
	width integer;
	upper float8 := 0;
BEGIN
	LOOP
		digits := rtrim(digits, '0');
		bucket := (length(digits) + 11) / 12;
		n := rpad(substr(digits, 12 * bucket - 11), 12, '0');
		before := before - n;
		IF before <= place + 1 THEN
			low := ('{0,10,12,14,16,20,23,27,32,39,46,54,64,77,91,108,128,153,182,216,256,305,363,431,512,609,725,862,1024,1218,1449,1723,2048,2436,2897,3445,4096,4871,5793,6889,8192,9742,11586,13778,16384,19484,23171,27555,32768,38968,46341,55109,65536,77936,92682,110218,131072,155872,185364,220436,262144,311744,370728,440872,524288,623488,741456,881744,1048576,1246975,1482911,1763488,2097152,2493949,2965821,3526976}'::integer[])[bucket];
			width := ('{9,11,13,15,19,22,26,31,38,45,53,63,76,90,107,127,152,181,215,255,304,362,430,511,608,724,861,1023,1217,1448,1722,2047,2435,2896,3444,4095,4870,5792,6888,8191,9741,11585,13777,16383,19483,23170,27554,32767,38967,46340,55108,65535,77935,92681,110217,131071,155871,185363,220435,262143,311743,370727,440871,524287,623487,741455,881743,1048575,1246974,1482910,1763487,2097151,2493948,2965820,3526975,4194304}'::integer[])[bucket] - low;
			IF place + 1 < before + n THEN
				upper := weight * (low + width * (place + 1 - before + 0.5) / n);
			END IF;
			IF before <= place THEN
				RETURN upper + (1 - weight) * (low + width * (place - before + 0.5) / n);
			END IF;
		END IF;
		digits := left(digits, 12 * bucket - 12);
	END LOOP;
END
$$;--> statement-breakpoint
-- What that percentile is at most. Of up to 21 calls it lies between the two highest, and of more below the second highest. The
-- bucket of a call follows from its place among the decimals, and the highest end of a bucket from that.
CREATE FUNCTION "latency_p95_at_most"("latencies" numeric) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT (2 ^ ((ceil(scale(coalesce(nullif(trim_scale(latencies - ('1e-' || scale(latencies))::numeric), 0), latencies)) / 12.0) + 12)::float8 / 4) + 2)
		+ (19 * (mod(latencies * ('1e' || scale(latencies))::numeric, 999999999999) - 1) % 20)::float8 / 20
		* ((2 ^ ((scale(latencies) / 12 + 12) / 4.0::float8) + 2)
		- (2 ^ ((ceil(scale(coalesce(nullif(trim_scale(latencies - ('1e-' || scale(latencies))::numeric), 0), latencies)) / 12.0) + 12)::float8 / 4) + 2))
$$;--> statement-breakpoint
-- Who has a label has one owner or few: without knowing so the server expects many more groups of them than there are.
CREATE STATISTICS "rollup_hours_person" (ndistinct) ON "owner", "user_label" FROM "rollup_hours";--> statement-breakpoint
CREATE STATISTICS "rollup_sessions_person" (ndistinct) ON "owner", "user_label" FROM "rollup_sessions";--> statement-breakpoint
-- Nobody changes or deletes what the audit log says; its rows leave when they are 400 days old.
CREATE FUNCTION "keep_audit_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE' OR OLD."at" > now() - interval '399 days' THEN
		RAISE EXCEPTION 'Entries of the audit log cannot be changed, and are deleted only when they are 400 days old.';
	END IF;
	RETURN OLD;
END $$;--> statement-breakpoint
CREATE TRIGGER "audit_entries_kept" BEFORE UPDATE OR DELETE ON "audit_entries"
	FOR EACH ROW EXECUTE FUNCTION "keep_audit_entries"();
