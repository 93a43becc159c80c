ALTER TABLE "requests" ADD COLUMN "bound_usd" numeric;--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "in_flight_max" integer;--> statement-breakpoint
CREATE TABLE "admin_tokens" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"team" text COLLATE "C",
	"sha256" "bytea" NOT NULL,
	"last_four" text COLLATE "C" NOT NULL,
	"expires_at" timestamptz(3) NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "admin_tokens_org_id_id_pk" PRIMARY KEY("org_id","id")
);--> statement-breakpoint
CREATE TABLE "people" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"email_verified" boolean DEFAULT true NOT NULL,
	"image" text COLLATE "C",
	"github_login" text COLLATE "C",
	"role" text COLLATE "C" DEFAULT 'member' NOT NULL,
	"team" text COLLATE "C",
	"disabled" boolean DEFAULT false NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "people_org_id_id_pk" PRIMARY KEY("org_id","id")
);--> statement-breakpoint
CREATE TABLE "person_sessions" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"person_id" uuid NOT NULL,
	"token_sha256" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"previous_token_sha256" text COLLATE "C",
	"previous_role" text COLLATE "C",
	"rotated_at" timestamptz(3),
	"expires_at" timestamptz(3) NOT NULL,
	"ip_address" text COLLATE "C",
	"user_agent" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "person_sessions_org_id_id_pk" PRIMARY KEY("org_id","id")
);--> statement-breakpoint
CREATE TABLE "role_mappings" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"group" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"team" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "role_mappings_org_id_group_pk" PRIMARY KEY("org_id","group")
);--> statement-breakpoint
CREATE TABLE "sign_in_accounts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"person_id" uuid NOT NULL,
	"provider_id" text COLLATE "C" NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"access_token" text COLLATE "C",
	"refresh_token" text COLLATE "C",
	"id_token" text COLLATE "C",
	"access_token_expires_at" timestamptz(3),
	"refresh_token_expires_at" timestamptz(3),
	"scope" text COLLATE "C",
	"password" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "sign_in_accounts_org_id_id_pk" PRIMARY KEY("org_id","id")
);--> statement-breakpoint
CREATE TABLE "sign_in_verifications" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"identifier" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"expires_at" timestamptz(3) NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "sign_in_verifications_org_id_id_pk" PRIMARY KEY("org_id","id")
);--> statement-breakpoint
CREATE TABLE "limit_away" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"minute" timestamptz(3) NOT NULL,
	"holder" uuid NOT NULL,
	"requests" integer NOT NULL,
	"tokens" bigint NOT NULL,
	"calls" integer NOT NULL,
	"usd" numeric NOT NULL,
	CONSTRAINT "limit_away_org_id_key_id_minute_holder_pk" PRIMARY KEY("org_id","key_id","minute","holder")
);--> statement-breakpoint
CREATE TABLE "teams" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"parent" text COLLATE "C",
	"cost_center" text COLLATE "C",
	"budget_usd" numeric,
	"budget_period" text COLLATE "C",
	"key_template" jsonb,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "teams_org_id_name_pk" PRIMARY KEY("org_id","name")
);--> statement-breakpoint
ALTER TABLE "rollup_distinct_deltas" DROP CONSTRAINT "rollup_distinct_deltas_org_id_entity_kind_lane_day_value_previous_pk";--> statement-breakpoint
ALTER TABLE "rollup_sums" DROP CONSTRAINT "rollup_sums_org_id_kind_grain_at_cell_pk";--> statement-breakpoint
ALTER TABLE "agent_points" ADD COLUMN "teams" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "agent_points" ADD COLUMN "cost_center" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "batches" ADD COLUMN "teams" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "batches" ADD COLUMN "cost_center" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "team" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "teams" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "cost_center" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "saved_reports" ADD COLUMN "owner" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "saved_reports" ADD COLUMN "team" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "rollup_distinct_deltas" ADD COLUMN "scope" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_hours" ADD COLUMN "teams" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "rollup_hours" ADD COLUMN "cost_center" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "rollup_sessions" ADD COLUMN "teams" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "rollup_sessions" ADD COLUMN "cost_center" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "rollup_sums" ADD COLUMN "scope" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "more_credentials" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "routes" ADD COLUMN "weight" integer;--> statement-breakpoint
ALTER TABLE "routes" ADD COLUMN "first_byte_seconds" integer;--> statement-breakpoint
ALTER TABLE "routes" ADD COLUMN "idle_seconds" integer;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "teams" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "cost_center" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "error_cause" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "guardrail" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "rollup_distinct_deltas" ADD CONSTRAINT "rollup_distinct_deltas_org_id_entity_kind_lane_scope_day_value_previous_pk" PRIMARY KEY("org_id","entity","kind","lane","scope","day","value","previous");--> statement-breakpoint
ALTER TABLE "rollup_sums" ADD CONSTRAINT "rollup_sums_org_id_kind_scope_grain_at_cell_pk" PRIMARY KEY("org_id","kind","scope","grain","at","cell");--> statement-breakpoint
CREATE UNIQUE INDEX "admin_tokens_name" ON "admin_tokens" USING btree ("org_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "admin_tokens_sha256" ON "admin_tokens" USING btree ("org_id","sha256");--> statement-breakpoint
CREATE UNIQUE INDEX "people_email" ON "people" USING btree ("org_id","email");--> statement-breakpoint
CREATE UNIQUE INDEX "person_sessions_token" ON "person_sessions" USING btree ("org_id","token_sha256");--> statement-breakpoint
CREATE INDEX "person_sessions_previous" ON "person_sessions" USING btree ("org_id","previous_token_sha256");--> statement-breakpoint
CREATE INDEX "person_sessions_person" ON "person_sessions" USING btree ("org_id","person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_accounts_account" ON "sign_in_accounts" USING btree ("org_id","provider_id","account_id");--> statement-breakpoint
CREATE INDEX "sign_in_accounts_person" ON "sign_in_accounts" USING btree ("org_id","person_id");--> statement-breakpoint
CREATE INDEX "sign_in_verifications_identifier" ON "sign_in_verifications" USING btree ("org_id","identifier");--> statement-breakpoint
-- By hand: the records that were summed up so far have no team and no cost centre, so all of them are under `(none)`.
DELETE FROM "rollup_sums" WHERE "kind" IN ('key', 'channel', 'tag');--> statement-breakpoint
DELETE FROM "rollup_distinct_deltas" WHERE "kind" IN ('key', 'channel', 'tag') OR "kind" = 'subject' AND "entity" = 'person';--> statement-breakpoint
INSERT INTO "rollup_sums" ("org_id","grain","at","cell","records","unpriced","uncertain","latency_count","ttft_count","input_tokens","output_tokens","cached_tokens","priced_input_tokens","priced_output_tokens","latency_sum","ttft_sum","first_at","active_hours","billed_hours","sessions","billed_sessions","channel","cost_usd","token_cost_usd","latencies","session_cost_usd","first_session_at","first_tag_at", "kind", "value")
SELECT "org_id","grain","at","cell","records","unpriced","uncertain","latency_count","ttft_count","input_tokens","output_tokens","cached_tokens","priced_input_tokens","priced_output_tokens","latency_sum","ttft_sum","first_at","active_hours","billed_hours",CASE WHEN "new"."kind" = 'team' THEN "sessions" ELSE 0 END,CASE WHEN "new"."kind" = 'team' THEN "billed_sessions" ELSE 0 END,"channel","cost_usd","token_cost_usd","latencies","session_cost_usd","first_session_at","first_tag_at", "new"."kind", '(none)' FROM (SELECT * FROM "rollup_sums" WHERE "kind" = 'total') "all" CROSS JOIN (VALUES ('team'), ('cost_center')) "new"("kind");--> statement-breakpoint
INSERT INTO "rollup_distinct_deltas" ("org_id","entity","lane","day","previous","n","firsts", "kind", "value")
SELECT "org_id","entity","lane","day","previous","n","firsts", "new"."kind", '(none)' FROM (SELECT * FROM "rollup_distinct_deltas" WHERE "kind" = 'total') "all" CROSS JOIN (VALUES ('team')) "new"("kind");--> statement-breakpoint
INSERT INTO "rollup_active_days" ("org_id", "who", "month", "days", "billed_days", "hours", "billed_hours")
SELECT "all"."org_id", md5('person' || chr(31) || "new"."kind" || chr(31) || '(none)' || chr(31) || "person")::uuid,
	"month", "days", "billed_days", "all"."hours", "billed_hours"
FROM (SELECT DISTINCT "org_id", coalesce("user_label", "owner") AS "person" FROM "rollup_sessions") "active"
JOIN "rollup_active_days" "all" ON "all"."org_id" = "active"."org_id"
	AND "all"."who" = md5('person' || chr(31) || 'total' || chr(31) || chr(31) || "person")::uuid
CROSS JOIN (VALUES ('team')) "new"("kind");--> statement-breakpoint
-- By hand:
-- What tools cost is spent too. A call's row is merged from what several observers saw, so its cost may change.
CREATE FUNCTION "book_new_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "key_id", ("started_at" AT TIME ZONE 'UTC')::date, sum("cost_usd") FROM "booked"
	WHERE "cost_usd" <> 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "book_changed_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "key_id", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "started_at", "cost_usd" AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "started_at", -"cost_usd" FROM "before"
	) "changed"
	WHERE "usd" <> 0 GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "tool_calls_book_new" AFTER INSERT ON "tool_calls" REFERENCING NEW TABLE AS "booked"
	FOR EACH STATEMENT EXECUTE FUNCTION "book_new_tool_calls"();--> statement-breakpoint
CREATE TRIGGER "tool_calls_book_changed" AFTER UPDATE ON "tool_calls" REFERENCING OLD TABLE AS "before" NEW TABLE AS "after"
	FOR EACH STATEMENT EXECUTE FUNCTION "book_changed_tool_calls"();--> statement-breakpoint
ALTER TABLE "limit_holds" DROP CONSTRAINT "limit_holds_org_id_call_id_pk";--> statement-breakpoint
ALTER TABLE "limit_holds" ADD CONSTRAINT "limit_holds_org_id_call_id_key_id_pk" PRIMARY KEY("org_id","call_id","key_id");--> statement-breakpoint
-- By hand: what a record costs is booked for its key, and for its team and the teams above that under their accounts.
CREATE OR REPLACE FUNCTION "book_new_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum(coalesce("cost_usd", "bound_usd")) FROM "booked", LATERAL (
		SELECT "key_id" UNION ALL SELECT md5('team ' || "team")::uuid FROM unnest("teams") "team"
	) "paying" ("account")
	WHERE coalesce("cost_usd", "bound_usd") <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	DELETE FROM "limit_holds" "hold" USING "booked"
	WHERE "hold"."org_id" = "booked"."org_id" AND "hold"."call_id" = "booked"."id";
	INSERT INTO "session_agents" ("org_id", "session", "agent_session")
	SELECT DISTINCT "org_id", "session", "agent" FROM "booked", LATERAL (VALUES ("agent_session"), ("parent_session")) AS "own" ("agent")
	WHERE "agent" <> "session" ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_changed_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "teams", "started_at", "channel", coalesce("cost_usd", "bound_usd") AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "teams", "started_at", "channel", -coalesce("cost_usd", "bound_usd") FROM "before"
	) "changed", LATERAL (
		SELECT "key_id" UNION ALL SELECT md5('team ' || "team")::uuid FROM unnest("teams") "team"
	) "paying" ("account")
	WHERE "usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_new_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("cost_usd") FROM "booked", LATERAL (
		SELECT "key_id" UNION ALL SELECT md5('team ' || "team")::uuid FROM unnest("teams") "team"
	) "paying" ("account")
	WHERE "cost_usd" <> 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_changed_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "teams", "started_at", "cost_usd" AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "teams", "started_at", -"cost_usd" FROM "before"
	) "changed", LATERAL (
		SELECT "key_id" UNION ALL SELECT md5('team ' || "team")::uuid FROM unnest("teams") "team"
	) "paying" ("account")
	WHERE "usd" <> 0 GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
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
CREATE INDEX "device_sign_ins_expires" ON "device_sign_ins" USING btree ("org_id","expires_at");--> statement-breakpoint
ALTER TABLE "person_sessions" ADD COLUMN "way" text COLLATE "C";--> statement-breakpoint
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
CREATE INDEX "refresh_tokens_key" ON "refresh_tokens" USING btree ("org_id","key_id");--> statement-breakpoint
ALTER TABLE "teams" ADD COLUMN "claude_settings" jsonb;--> statement-breakpoint
ALTER TABLE "reprice_jobs" ADD COLUMN "cancelled_at" timestamptz(3);--> statement-breakpoint
CREATE TABLE "clickhouse_marks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"relation" text COLLATE "C" NOT NULL,
	"rows" integer NOT NULL,
	"keys" jsonb NOT NULL,
	"marked_at" timestamptz(3) DEFAULT now() NOT NULL,
	CONSTRAINT "clickhouse_marks_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "clickhouse_moves" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"relation" text COLLATE "C" NOT NULL,
	"moved_to" timestamptz(3) NOT NULL,
	CONSTRAINT "clickhouse_moves_org_id_relation_pk" PRIMARY KEY("org_id","relation")
);
--> statement-breakpoint
CREATE TABLE "clickhouse_state" (
	"org_id" text COLLATE "C" PRIMARY KEY DEFAULT 'default' NOT NULL,
	"version" bigint NOT NULL
);
--> statement-breakpoint
-- By hand: rows that come or change are marked for ClickHouse where a gateway copies them there. A mark names a thousand rows
-- at most. The argument has the columns of the key.
CREATE FUNCTION "mark_for_clickhouse"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM "clickhouse_state") THEN
		EXECUTE format('INSERT INTO "clickhouse_marks" ("org_id", "relation", "rows", "keys")
			SELECT "org_id", %L, count(*), jsonb_agg(to_jsonb("key") - ''org_id'' - ''part'')
			FROM (SELECT "org_id", %s, (row_number() OVER () - 1) / 1000 AS "part" FROM "written") "key"
			GROUP BY "org_id", "part"', TG_TABLE_NAME, TG_ARGV[0]);
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "requests_mark_new" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id, started_at');--> statement-breakpoint
CREATE TRIGGER "requests_mark_changed" AFTER UPDATE ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id, started_at');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_new" AFTER INSERT ON "tool_calls" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_changed" AFTER UPDATE ON "tool_calls" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id');--> statement-breakpoint
CREATE TRIGGER "agent_points_mark_new" AFTER INSERT ON "agent_points" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('hash');--> statement-breakpoint
CREATE TRIGGER "agent_points_mark_changed" AFTER UPDATE ON "agent_points" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('hash');--> statement-breakpoint
CREATE TRIGGER "keys_mark_new" AFTER INSERT ON "keys" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "keys_mark_changed" AFTER UPDATE ON "keys" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "repositories_mark_new" AFTER INSERT ON "repositories" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "repositories_mark_changed" AFTER UPDATE ON "repositories" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark_new" AFTER INSERT ON "pull_requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, number');--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark_changed" AFTER UPDATE ON "pull_requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, number');--> statement-breakpoint
CREATE TRIGGER "reviews_mark_new" AFTER INSERT ON "reviews" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, id');--> statement-breakpoint
CREATE TRIGGER "reviews_mark_changed" AFTER UPDATE ON "reviews" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, id');--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "kept_ids" text[] COLLATE "C";--> statement-breakpoint
CREATE INDEX "requests_kept_ids" ON "requests" USING gin ("kept_ids") WITH (fastupdate=false) WHERE "requests"."kept_ids" is not null;