CREATE TABLE "session_contexts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	"declarer" text COLLATE "C" NOT NULL,
	"repository" text COLLATE "C" NOT NULL,
	"branch" text COLLATE "C" NOT NULL,
	"key_id" uuid NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"declared_at" timestamptz(3) NOT NULL,
	CONSTRAINT "session_contexts_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "session_stretches" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"cell" uuid NOT NULL,
	"context" uuid NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	"quarter" timestamptz(3) NOT NULL,
	"key_id" uuid NOT NULL,
	"owner" text COLLATE "C",
	"teams" text[] COLLATE "C",
	"model" text COLLATE "C",
	"channel" text COLLATE "C" NOT NULL,
	"records" integer NOT NULL,
	"known" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"cost_usd" numeric NOT NULL,
	CONSTRAINT "session_stretches_org_id_cell_pk" PRIMARY KEY("org_id","cell")
);
--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "head_branch" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "head_repository" text COLLATE "C";--> statement-breakpoint
CREATE UNIQUE INDEX "session_contexts_pair" ON "session_contexts" USING btree ("org_id","session","declarer","declared_at");--> statement-breakpoint
CREATE INDEX "session_stretches_session" ON "session_stretches" USING btree ("org_id","session");--> statement-breakpoint
-- By hand: records are written under a shared lock, taken before any other, and contexts alone: so each call is stored before
-- the context that covers it, which then counts it, or sees that context.
CREATE FUNCTION "lock_contexts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_TABLE_NAME = 'session_contexts' THEN
		PERFORM pg_advisory_xact_lock(hashtext('session_contexts'));
	ELSE
		PERFORM pg_advisory_xact_lock_shared(hashtext('session_contexts'));
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
-- A call belongs to the first of its ids that its maker declared contexts for: there to the last one before it, else to the first.
CREATE FUNCTION "keep_stretches"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"calls" text := 'SELECT *, 1 AS "sign" FROM "written"';
	"declared" text := '(SELECT DISTINCT "org_id", "counting", "declarer" FROM "written", LATERAL (
		SELECT "written"."session" UNION ALL SELECT "it"."session" FROM "session_agents" "it"
		WHERE "it"."org_id" = "written"."org_id" AND "it"."agent_session" = "written"."session") "of" ("counting")) "new"';
BEGIN
	IF TG_TABLE_NAME = 'session_contexts' THEN
		EXECUTE 'DELETE FROM "session_stretches" "old" USING ' || "declared" || '
			WHERE "old"."org_id" = "new"."org_id" AND "old"."session" = "new"."counting"
				AND lower(coalesce("old"."owner", "old"."key_id"::text)) = "new"."declarer" AND "old"."quarter" >= coalesce(
					(SELECT "raw_from" FROM "rollup_state" "it" WHERE "it"."org_id" = "new"."org_id"), ''-infinity'')';
		"calls" := 'SELECT "r".*, 1 AS "sign" FROM "requests" "r" JOIN ' || "declared" || ' ON "r"."org_id" = "new"."org_id"
			AND "r"."session" = "counting" AND lower(coalesce("owner", "key_id"::text)) = "declarer"';
	ELSIF NOT EXISTS (SELECT FROM "session_contexts") THEN
		RETURN NULL;
	ELSIF TG_OP = 'UPDATE' THEN
		"calls" := "calls" || ' UNION ALL SELECT *, -1 FROM "before"';
	END IF;
	EXECUTE format('
		INSERT INTO "session_stretches" AS "sum" ("org_id", "cell", "session", "context", "quarter", "key_id", "owner", "teams", "model", "channel",
			"records", "known", "uncertain", "cost_usd")
		SELECT "org_id", md5(jsonb_build_array("session", "context", extract(epoch FROM "quarter"), "key_id", "owner", "teams", "model",
			"channel")::text)::uuid, "session", "context", "quarter", "key_id", "owner", "teams", "model", "channel",
			sum("sign"), coalesce(sum("sign") FILTER (WHERE "cost_usd" IS NOT NULL), 0),
			coalesce(sum("sign") FILTER (WHERE "unpriced" OR "partial" OR "cost_usd" IS NULL), 0), coalesce(sum("sign" * "cost_usd"), 0)
		FROM (%s) "call", LATERAL (
			SELECT "id" AS "context" FROM "session_contexts" "it"
			WHERE "it"."org_id" = "call"."org_id" AND "it"."declarer" = lower(coalesce("call"."owner", "call"."key_id"::text))
				AND "it"."session" IN ("call"."agent_session", "call"."parent_session", "call"."session")
			ORDER BY array_position(ARRAY["call"."agent_session", "call"."parent_session", "call"."session"], "it"."session"),
				"declared_at" <= "started_at" DESC, CASE WHEN "declared_at" <= "started_at" THEN "declared_at" END DESC, "declared_at"
			LIMIT 1) "covering", LATERAL (SELECT date_bin(''15 minutes'', "started_at", ''epoch'')) "time" ("quarter")
		WHERE "session" IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 1, 2
		ON CONFLICT ("org_id", "cell") DO UPDATE SET "records" = "sum"."records" + excluded."records",
			"known" = "sum"."known" + excluded."known", "uncertain" = "sum"."uncertain" + excluded."uncertain",
			"cost_usd" = "sum"."cost_usd" + excluded."cost_usd"', "calls");
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "requests_lock_contexts" BEFORE INSERT OR UPDATE ON "requests"
	FOR EACH STATEMENT EXECUTE FUNCTION "lock_contexts"();--> statement-breakpoint
CREATE TRIGGER "requests_stretch_new" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "keep_stretches"();--> statement-breakpoint
CREATE TRIGGER "requests_stretch_changed" AFTER UPDATE ON "requests" REFERENCING OLD TABLE AS "before" NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "keep_stretches"();--> statement-breakpoint
CREATE TRIGGER "session_contexts_lock" BEFORE INSERT ON "session_contexts"
	FOR EACH STATEMENT EXECUTE FUNCTION "lock_contexts"();--> statement-breakpoint
CREATE TRIGGER "session_contexts_stretch" AFTER INSERT ON "session_contexts" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "keep_stretches"();--> statement-breakpoint
CREATE TRIGGER "session_contexts_count" AFTER INSERT ON "session_contexts" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TABLE "github_app_reports" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"report" jsonb NOT NULL,
	"seen_at" timestamptz(3) NOT NULL,
	"reported_at" timestamptz(3) NOT NULL,
	"asked_at" timestamptz(3),
	"secret_asked_at" timestamptz(3),
	CONSTRAINT "github_app_reports_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "waiting_merges" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"author_login" text COLLATE "C",
	"session" text COLLATE "C" NOT NULL,
	"merged_at" timestamptz(3) NOT NULL,
	CONSTRAINT "waiting_merges_org_id_repository_id_number_pk" PRIMARY KEY("org_id","repository_id","number")
);--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "pass_through" jsonb;--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "pending" boolean;--> statement-breakpoint
CREATE INDEX "requests_pending" ON "requests" USING btree ("org_id","started_at") WHERE "requests"."pending";--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "base_branch" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "kind" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "additions" integer;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "deletions" integer;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "changed_files" integer;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "size_at" timestamptz(3);--> statement-breakpoint
CREATE TABLE "discounts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"percent" numeric NOT NULL,
	"effective_from" timestamptz(3) NOT NULL,
	"effective_to" timestamptz(3),
	"models" text[] COLLATE "C",
	"tiers" text[] COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "discounts_org_id_id_pk" PRIMARY KEY("org_id","id")
);--> statement-breakpoint
-- By hand: counts that reports no longer read. Days of teams are whole, and sessions of whole days are sums.
DELETE FROM "rollup_distinct_deltas" WHERE "entity" = 'session'
	AND ("kind" NOT IN ('total', 'subject') OR "scope" <> '' AND "previous" = '-infinity' OR "kind" = 'subject' AND "lane" = 2);
--> statement-breakpoint
DELETE FROM "rollup_distinct_deltas" WHERE "entity" = 'person' AND "kind" IN ('model', 'route') AND "lane" = 2;
--> statement-breakpoint
-- Generated:
CREATE TABLE "vendor_accounts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"vendor" text COLLATE "C" NOT NULL,
	"credential" text COLLATE "C",
	"base_url" text COLLATE "C",
	"allow_private_network" boolean NOT NULL,
	"providers" text[] COLLATE "C",
	"keys" text[] COLLATE "C",
	"models" jsonb NOT NULL,
	"time_zone" text COLLATE "C" NOT NULL,
	"rates" jsonb NOT NULL,
	"enabled" boolean NOT NULL,
	"fetched_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "vendor_accounts_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "vendor_bill_days" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"account" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"read_at" timestamptz(3) NOT NULL,
	CONSTRAINT "vendor_bill_days_org_id_account_day_pk" PRIMARY KEY("org_id","account","day")
);
--> statement-breakpoint
CREATE TABLE "vendor_bill_lines" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"account" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"line" integer NOT NULL,
	"category" text COLLATE "C" NOT NULL,
	"item" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C",
	"kind" text COLLATE "C",
	"tier" text COLLATE "C",
	"key" text COLLATE "C",
	"quantity" numeric,
	"amount" numeric,
	"currency" text COLLATE "C" NOT NULL,
	"rate" numeric,
	CONSTRAINT "vendor_bill_lines_org_id_account_day_line_pk" PRIMARY KEY("org_id","account","day","line")
);
--> statement-breakpoint
CREATE TABLE "budgets" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"scope_id" text COLLATE "C",
	"account" uuid NOT NULL,
	"amount_usd" numeric NOT NULL,
	"period" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"thresholds" smallint[] NOT NULL,
	"unpriced" text COLLATE "C" NOT NULL,
	"when_away" text COLLATE "C" NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "budgets_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE INDEX "budgets_account" ON "budgets" USING btree ("org_id","account");--> statement-breakpoint
-- By hand: what a record costs is booked for the budgets on its route, its tags and the organisation, too.
CREATE FUNCTION "budget_accounts"("route" text, "tags" text[]) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
	SELECT DISTINCT "account" FROM "budgets" WHERE "kind" = 'organisation'
		OR "kind" = 'route' AND "scope_id" = "route" OR "kind" = 'tag' AND "scope_id" = ANY ("tags")
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_new_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(hashtext('budgets'));
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum(coalesce("cost_usd", "bound_usd")) FROM "booked",
		LATERAL (SELECT paying_accounts("key_id", "owner", "teams") UNION ALL SELECT budget_accounts("route", "tags")) "paying" ("account")
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
	PERFORM pg_advisory_xact_lock_shared(hashtext('budgets'));
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "owner", "teams", "route", "tags", "started_at", "channel", coalesce("cost_usd", "bound_usd") AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "owner", "teams", "route", "tags", "started_at", "channel", -coalesce("cost_usd", "bound_usd") FROM "before"
	) "changed", LATERAL (SELECT paying_accounts("key_id", "owner", "teams") UNION ALL SELECT budget_accounts("route", "tags")) "paying" ("account")
	WHERE "usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_new_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(hashtext('budgets'));
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("cost_usd") FROM "booked",
		LATERAL (SELECT paying_accounts("key_id", "owner", "teams") UNION ALL SELECT budget_accounts(NULL, "tags")) "paying" ("account")
	WHERE "cost_usd" <> 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_changed_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(hashtext('budgets'));
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "owner", "teams", "tags", "started_at", "cost_usd" AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "owner", "teams", "tags", "started_at", -"cost_usd" FROM "before"
	) "changed", LATERAL (SELECT paying_accounts("key_id", "owner", "teams") UNION ALL SELECT budget_accounts(NULL, "tags")) "paying" ("account")
	WHERE "usd" <> 0 GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
-- The records of the longest period count in a new budget, and are the history of its forecast. No record is stored meanwhile, so that each counts once.
CREATE FUNCTION "book_past_spend"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"since" timestamptz := (date_trunc('day', now() AT TIME ZONE 'UTC') - interval '92 days') AT TIME ZONE 'UTC';
BEGIN
	IF NEW."kind" NOT IN ('organisation', 'route', 'tag') THEN RETURN NULL; END IF;
	PERFORM pg_advisory_xact_lock(hashtext('budgets'));
	DELETE FROM "key_spend" WHERE "org_id" = NEW."org_id" AND "key_id" = NEW."account";
	INSERT INTO "key_spend" ("org_id", "key_id", "day", "usd")
	SELECT NEW."org_id", NEW."account", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "started_at", coalesce("cost_usd", "bound_usd") AS "usd" FROM "requests"
		WHERE "org_id" = NEW."org_id" AND "started_at" >= "since" AND "channel" <> 'subscription'
			AND (NEW."kind" = 'organisation' OR NEW."kind" = 'route' AND "route" = NEW."scope_id" OR NEW."kind" = 'tag' AND "tags" @> ARRAY[NEW."scope_id"])
		UNION ALL SELECT "started_at", "cost_usd" FROM "tool_calls"
		WHERE "org_id" = NEW."org_id" AND "started_at" >= "since"
			AND (NEW."kind" = 'organisation' OR NEW."kind" = 'tag' AND "tags" @> ARRAY[NEW."scope_id"])
	) "booked" WHERE "usd" <> 0 GROUP BY 3;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "budgets_made" AFTER INSERT ON "budgets" FOR EACH ROW EXECUTE FUNCTION "book_past_spend"();--> statement-breakpoint
CREATE TRIGGER "budgets_moved" AFTER UPDATE ON "budgets" FOR EACH ROW WHEN (OLD."account" <> NEW."account") EXECUTE FUNCTION "book_past_spend"();
--> statement-breakpoint
ALTER TABLE "clickhouse_state" ADD COLUMN "database_id" uuid;--> statement-breakpoint
ALTER TABLE "clickhouse_state" ADD COLUMN "compared_at" timestamptz(3);--> statement-breakpoint
-- By hand: rows that are deleted are marked for ClickHouse, too, so that their copies go.
CREATE TRIGGER "requests_mark_deleted" AFTER DELETE ON "requests" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id, started_at');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_deleted" AFTER DELETE ON "tool_calls" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id');--> statement-breakpoint
CREATE TRIGGER "agent_points_mark_deleted" AFTER DELETE ON "agent_points" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('hash');--> statement-breakpoint
CREATE TRIGGER "keys_mark_deleted" AFTER DELETE ON "keys" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "repositories_mark_deleted" AFTER DELETE ON "repositories" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark_deleted" AFTER DELETE ON "pull_requests" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, number');--> statement-breakpoint
CREATE TRIGGER "reviews_mark_deleted" AFTER DELETE ON "reviews" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, id');
--> statement-breakpoint
CREATE TABLE "alert_states" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"alert" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"delivery_id" uuid NOT NULL,
	"content" jsonb NOT NULL,
	"raised_at" timestamptz(3) NOT NULL,
	"seen_at" timestamptz(3) NOT NULL,
	"sent_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "alert_states_org_id_alert_state_pk" PRIMARY KEY("org_id","alert","state")
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"on" text[] COLLATE "C" NOT NULL,
	"to" jsonb NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"enabled" boolean NOT NULL,
	"last_sent_at" timestamptz(3),
	"failure" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "alerts_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE TABLE "periods" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"closed_at" timestamptz(3),
	"actor" text COLLATE "C" NOT NULL,
	"changed_at" timestamptz(3) NOT NULL,
	"records" integer NOT NULL,
	"cost_usd" numeric NOT NULL,
	"late_records" integer DEFAULT 0 NOT NULL,
	"late_cost_usd" numeric DEFAULT '0' NOT NULL,
	CONSTRAINT "periods_org_id_month_pk" PRIMARY KEY("org_id","month")
);
--> statement-breakpoint
CREATE TABLE "record_versions" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"record_id" uuid NOT NULL,
	"started_at" timestamptz(3) NOT NULL,
	"until_at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"absent" boolean DEFAULT false NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"cost_basis" text COLLATE "C",
	"list_cost_usd" numeric,
	"unpriced" boolean NOT NULL,
	"partial" boolean NOT NULL,
	"price" jsonb,
	CONSTRAINT "record_versions_org_id_record_id_started_at_until_at_pk" PRIMARY KEY("org_id","record_id","started_at","until_at")
);
--> statement-breakpoint
CREATE TABLE "reprice_differences" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"job_id" uuid NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"team" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"records" integer NOT NULL,
	"old_cost_usd" numeric NOT NULL,
	"new_cost_usd" numeric NOT NULL,
	"noted_at" timestamptz(3) DEFAULT now() NOT NULL,
	CONSTRAINT "reprice_differences_org_id_job_id_month_team_model_pk" PRIMARY KEY("org_id","job_id","month","team","model")
);
--> statement-breakpoint
ALTER TABLE "reprice_jobs" ADD COLUMN "kind" text COLLATE "C" DEFAULT 'reprice' NOT NULL;--> statement-breakpoint
ALTER TABLE "reprice_jobs" ADD COLUMN "provider" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "reprice_jobs" ADD COLUMN "model" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "reprice_jobs" ADD COLUMN "left_records" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "reprice_jobs" ADD COLUMN "closed_months" text[] COLLATE "C" DEFAULT '{}' NOT NULL;--> statement-breakpoint
-- By hand: jobs go by the order of ids now; those under way begin again, which changes nothing that they have priced.
UPDATE "reprice_jobs" SET "last_id" = NULL, "last_started_at" = NULL, "checked_records" = 0 WHERE "finished_at" IS NULL;--> statement-breakpoint
-- Who changes costs says so in the settings of the transaction. What changes a closed month is counted there.
CREATE FUNCTION "keep_versions"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"why" text := coalesce(nullif(current_setting('tallygate.reason', true), ''), 'settled');
BEGIN
	INSERT INTO "record_versions" ("org_id", "record_id", "started_at", "until_at", "actor", "reason", "cost_usd", "token_cost_usd",
		"cost_basis", "list_cost_usd", "unpriced", "partial", "price")
	SELECT "org_id", "id", "started_at", clock_timestamp(), coalesce(nullif(current_setting('tallygate.actor', true), ''), 'gateway'), "why",
		"was"."cost_usd", "was"."token_cost_usd", "was"."cost_basis", "was"."list_cost_usd", "was"."unpriced", "was"."partial", "was"."price"
	FROM "before" "was" JOIN "written" "now" USING ("org_id", "id", "started_at")
	WHERE ("was"."cost_usd", "was"."token_cost_usd", "was"."cost_basis", "was"."list_cost_usd", "was"."unpriced", "was"."partial", "was"."price")
		IS DISTINCT FROM ("now"."cost_usd", "now"."token_cost_usd", "now"."cost_basis", "now"."list_cost_usd", "now"."unpriced", "now"."partial", "now"."price")
	ON CONFLICT DO NOTHING;
	IF "why" = 'settled' THEN
		UPDATE "periods" "it" SET "late_records" = "it"."late_records" + "late"."records", "late_cost_usd" = "it"."late_cost_usd" + "late"."usd"
		FROM (SELECT "org_id", to_char("now"."started_at" AT TIME ZONE 'UTC', 'YYYY-MM') AS "month", count(*) AS "records",
				coalesce(sum(coalesce("now"."cost_usd", 0) - coalesce("was"."cost_usd", 0)) FILTER (WHERE "now"."channel" <> 'subscription'), 0) AS "usd"
			FROM "before" "was" JOIN "written" "now" USING ("org_id", "id", "started_at")
			WHERE "was"."cost_usd" IS DISTINCT FROM "now"."cost_usd" GROUP BY 1, 2) "late"
		WHERE "it"."org_id" = "late"."org_id" AND "it"."month" = "late"."month" AND "it"."closed_at" IS NOT NULL;
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "note_late_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM "periods" WHERE "closed_at" IS NOT NULL) THEN
		WITH "late" AS (
			INSERT INTO "record_versions" ("org_id", "record_id", "started_at", "until_at", "actor", "reason", "absent", "cost_usd", "unpriced", "partial")
			SELECT "w"."org_id", "w"."id", "w"."started_at", clock_timestamp(), 'gateway', 'late', true,
				CASE WHEN "w"."channel" <> 'subscription' THEN "w"."cost_usd" END, false, false
			FROM "written" "w" JOIN "periods" "it" ON "it"."org_id" = "w"."org_id" AND "it"."closed_at" IS NOT NULL
				AND "it"."month" = to_char("w"."started_at" AT TIME ZONE 'UTC', 'YYYY-MM')
			ON CONFLICT DO NOTHING RETURNING "org_id", "started_at", "cost_usd")
		UPDATE "periods" "it" SET "late_records" = "it"."late_records" + "sum"."records", "late_cost_usd" = "it"."late_cost_usd" + "sum"."usd"
		FROM (SELECT "org_id", to_char("started_at" AT TIME ZONE 'UTC', 'YYYY-MM') AS "month", count(*) AS "records",
			coalesce(sum("cost_usd"), 0) AS "usd" FROM "late" GROUP BY 1, 2) "sum"
		WHERE "it"."org_id" = "sum"."org_id" AND "it"."month" = "sum"."month";
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "requests_versions" AFTER UPDATE ON "requests" REFERENCING OLD TABLE AS "before" NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "keep_versions"();--> statement-breakpoint
CREATE TRIGGER "requests_late" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "note_late_records"();
--> statement-breakpoint
CREATE TABLE "price_list_changes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"effective_from" timestamptz(3),
	"entry" jsonb NOT NULL,
	"before" jsonb,
	"seen_at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C",
	"decided_at" timestamptz(3),
	CONSTRAINT "price_list_changes_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "price_list_fetches" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"fetched_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "price_list_fetches_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "session_marks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	CONSTRAINT "session_marks_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "session_places" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	"declarer" text COLLATE "C",
	"agent" text COLLATE "C",
	"since" timestamptz(3),
	"place" smallint NOT NULL,
	CONSTRAINT "session_places_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE INDEX "session_places_session" ON "session_places" USING btree ("org_id","session");
--> statement-breakpoint
-- By hand: sessions are marked whose explanation may have changed; those linked to them are found when they are judged.
CREATE FUNCTION "mark_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"org" text := coalesce(NEW."org_id", OLD."org_id");
BEGIN
	IF TG_TABLE_NAME = 'pull_requests' THEN
		IF TG_OP <> 'UPDATE' OR (NEW."session_ids", NEW."link", NEW."state", NEW."merged_at", NEW."head_branch", NEW."head_repository",
			NEW."author_login") IS DISTINCT FROM (OLD."session_ids", OLD."link", OLD."state", OLD."merged_at", OLD."head_branch",
			OLD."head_repository", OLD."author_login") THEN
			INSERT INTO "session_marks" ("org_id", "session")
			SELECT "org", unnest(NEW."session_ids") UNION SELECT "org", unnest(OLD."session_ids");
		END IF;
	ELSIF TG_TABLE_NAME = 'session_links' THEN
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT "org", coalesce(NEW."session", OLD."session") UNION SELECT "org", coalesce(NEW."of_session", OLD."of_session");
	ELSIF TG_TABLE_NAME = 'session_contexts' THEN
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT "org", NEW."session" UNION
		SELECT "org", "it"."session" FROM "session_agents" "it" WHERE "it"."org_id" = "org" AND "it"."agent_session" = NEW."session";
	ELSIF TG_TABLE_NAME = 'session_agents' THEN
		INSERT INTO "session_marks" ("org_id", "session") SELECT "org", NEW."session"
		WHERE EXISTS (SELECT FROM "session_contexts" "it" WHERE "it"."org_id" = "org" AND "it"."session" = NEW."agent_session");
	ELSIF TG_TABLE_NAME = 'people' THEN
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT DISTINCT "org", "it"."session" FROM "session_links" "it"
		WHERE "it"."org_id" = "org" AND "it"."declarer" IN (NEW."email", OLD."email");
	ELSE
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT DISTINCT "org", "concerned" FROM (
			SELECT "session" AS "concerned", "repository" FROM "session_links" WHERE "org_id" = "org"
			UNION ALL SELECT "it"."session", "repository" FROM "session_contexts" "it" WHERE "it"."org_id" = "org"
			UNION ALL SELECT "by"."session", "repository" FROM "session_contexts" "it" JOIN "session_agents" "by"
				ON "by"."org_id" = "it"."org_id" AND "by"."agent_session" = "it"."session" WHERE "it"."org_id" = "org"
		) "of" WHERE "repository" IN (SELECT lower("name") FROM (
			SELECT NEW."full_name" UNION SELECT OLD."full_name" UNION SELECT jsonb_array_elements_text(NEW."former_names")
			UNION SELECT jsonb_array_elements_text(OLD."former_names")) "names" ("name"));
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
-- Who made the first call of a session owns it, and may have links to it. Records are not looked up: that would lock all months of them.
CREATE FUNCTION "mark_called_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "session_marks" ("org_id", "session")
	SELECT DISTINCT "org_id", "session" FROM "written"
	WHERE EXISTS (SELECT FROM "session_links" "it"
		WHERE "it"."org_id" = "written"."org_id" AND "it"."of_session" = "written"."session" AND "it"."session" <> "it"."of_session");
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark" AFTER INSERT OR UPDATE OR DELETE ON "pull_requests"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "session_links_mark" AFTER INSERT OR UPDATE OR DELETE ON "session_links"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "session_contexts_mark" AFTER INSERT ON "session_contexts"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "session_agents_mark" AFTER INSERT ON "session_agents"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "people_mark" AFTER INSERT OR UPDATE OF "email", "github_login" OR DELETE ON "people"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "repositories_mark" AFTER INSERT OR UPDATE OR DELETE ON "repositories"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "requests_mark" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_called_sessions"();--> statement-breakpoint
INSERT INTO "session_marks" ("org_id", "session")
SELECT "org_id", unnest("session_ids") FROM "pull_requests" UNION SELECT "org_id", "session" FROM "session_links"
UNION SELECT "org_id", "session" FROM "session_contexts" UNION SELECT "by"."org_id", "by"."session" FROM "session_contexts" "it"
	JOIN "session_agents" "by" ON "by"."org_id" = "it"."org_id" AND "by"."agent_session" = "it"."session";
--> statement-breakpoint
CREATE TABLE "statements" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"month" text COLLATE "C" NOT NULL,
	"by" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"closed_at" timestamptz(3) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"content" jsonb NOT NULL,
	CONSTRAINT "statements_org_id_month_by_version_pk" PRIMARY KEY("org_id","month","by","version")
);
--> statement-breakpoint
CREATE TABLE "commitments" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"models" text[] COLLATE "C",
	"amount_usd" numeric NOT NULL,
	"worth_usd" numeric,
	"effective_from" timestamptz(3) NOT NULL,
	"effective_to" timestamptz(3) NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "commitments_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "seats" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"person" text COLLATE "C" NOT NULL,
	"vendor" text COLLATE "C" NOT NULL,
	"plan" text COLLATE "C" NOT NULL,
	"monthly_usd" numeric NOT NULL,
	"effective_from" timestamptz(3) NOT NULL,
	"effective_to" timestamptz(3),
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "seats_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
ALTER TABLE "clickhouse_state" ADD COLUMN "sums_from" timestamptz(3);
--> statement-breakpoint
CREATE TABLE "export_destinations" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"endpoint" text COLLATE "C" NOT NULL,
	"allow_private_network" boolean NOT NULL,
	"bucket" text COLLATE "C" NOT NULL,
	"region" text COLLATE "C" NOT NULL,
	"prefix" text COLLATE "C" NOT NULL,
	"format" text COLLATE "C" NOT NULL,
	"access_key_id" text COLLATE "C" NOT NULL,
	"secret" text COLLATE "C" NOT NULL,
	"enabled" boolean NOT NULL,
	"done_until" timestamptz(3) NOT NULL,
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "export_destinations_org_id_pk" PRIMARY KEY("org_id")
);
