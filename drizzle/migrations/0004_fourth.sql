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
