-- By hand: earlier versions lock the state before sums, and so does this; what holds it for long makes the migrator try again.
SET LOCAL lock_timeout = '2s';--> statement-breakpoint
LOCK TABLE "rollup_state", "rollup_hours", "rollup_sessions", "rollup_sums", "rollup_distinct_deltas", "rollup_active_days" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "rollup_people" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"n" integer NOT NULL,
	"person" text COLLATE "C" NOT NULL,
	CONSTRAINT "rollup_people_org_id_person_pk" PRIMARY KEY("org_id","person")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "rollup_people_n" ON "rollup_people" USING btree ("org_id","n");--> statement-breakpoint
DROP TABLE "rollup_active_days";--> statement-breakpoint
DROP TABLE "rollup_distinct_deltas";--> statement-breakpoint
ALTER TABLE "rollup_hours" DROP COLUMN "cell";--> statement-breakpoint
ALTER TABLE "rollup_sessions" DROP COLUMN "cell", ADD COLUMN "again" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_sums" DROP COLUMN "cell", ADD COLUMN "people" bit varying;--> statement-breakpoint
-- By hand: a set of numbers, as bits. A number that is null is in no set.
CREATE FUNCTION "bits_of"("numbers" integer[]) RETURNS bit varying LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT string_agg(repeat('0', "n" - "before" - 1) || '1', '' ORDER BY "n")::bit varying
	FROM (
		SELECT "n", lag("n", 1, -1) OVER (ORDER BY "n") AS "before"
		FROM (SELECT DISTINCT "n" FROM unnest("numbers") "n" WHERE "n" IS NOT NULL) "set"
	) "numbered"
$$;--> statement-breakpoint
-- By hand: sums of months with single records are made again in the background, and reports read these records meanwhile. Only
-- sums of months without are made here, of their hours: a second or two for each 100,000 calls of them, in which reports wait.
CREATE TEMPORARY TABLE "kept_hours" AS
	SELECT "h".* FROM "rollup_hours" "h" JOIN "rollup_state" "s" USING ("org_id") WHERE "h"."hour" < "s"."raw_from";--> statement-breakpoint
CREATE TEMPORARY TABLE "kept_sessions" AS
	SELECT "r".* FROM "rollup_sessions" "r" JOIN "rollup_state" "s" USING ("org_id")
	WHERE "r"."day" < ("s"."raw_from" AT TIME ZONE 'UTC')::date;--> statement-breakpoint
UPDATE "kept_sessions" SET "again" = true WHERE ("org_id", "session") IN (
	SELECT "org_id", "session" FROM "kept_sessions" WHERE "session" IS NOT NULL
	GROUP BY "org_id", "session" HAVING min("day") < max("day"));--> statement-breakpoint
TRUNCATE "rollup_hours", "rollup_sessions", "rollup_sums";--> statement-breakpoint
INSERT INTO "rollup_hours" SELECT * FROM "kept_hours";--> statement-breakpoint
INSERT INTO "rollup_sessions" SELECT * FROM "kept_sessions";--> statement-breakpoint
UPDATE "rollup_state" SET "rolled_to" = least("rolled_to", coalesce("raw_from", '0001-01-01T00:00:00Z'));--> statement-breakpoint
CREATE INDEX "rollup_hours_hour" ON "rollup_hours" USING btree ("org_id","hour");--> statement-breakpoint
CREATE INDEX "rollup_sessions_day" ON "rollup_sessions" USING btree ("org_id","day");--> statement-breakpoint
CREATE INDEX "rollup_sessions_again" ON "rollup_sessions" USING btree ("org_id","day") WHERE "rollup_sessions"."again";--> statement-breakpoint
INSERT INTO "rollup_people" ("org_id", "person", "n")
	SELECT "org_id", "person", row_number() OVER (PARTITION BY "org_id" ORDER BY "person") - 1
	FROM (SELECT DISTINCT "org_id", coalesce("user_label", "owner") AS "person" FROM "kept_sessions") "new" WHERE "person" IS NOT NULL;--> statement-breakpoint
DO $$
DECLARE "of" record;
BEGIN
	FOR "of" IN SELECT * FROM (VALUES
		('total', '''''::text', true), ('client', 'coalesce(r.client, ''(none)'')', true), ('model', 'coalesce(r.model, ''(none)'')', true),
		('route', 'coalesce(r.route, ''(none)'')', true), ('team', 'coalesce(r.teams[1], ''(none)'')', true),
		('subject', 'case when r.user_label <> r.owner then r.user_label || '' ('' || r.owner || '')''
			else coalesce(r.user_label, r.owner, ''service account'') end', false),
		('cost_center', 'coalesce(r.cost_center, ''(none)'')', false)) "kinds" ("kind", "value", "counted")
	LOOP
		EXECUTE format($sums$
			WITH "cells" AS MATERIALIZED (
				SELECT r.*, date_trunc('day', r.hour, 'UTC') AS "at", o.scope, %2$s AS "value", r.channel <> 'subscription' AS "billed"
				FROM kept_hours r CROSS JOIN LATERAL unnest(array_prepend('', r.teams)) AS o(scope)
			), "sums" AS (
				SELECT org_id, "at", scope, "value", channel, sum(records)::int AS records, sum(unpriced)::int AS unpriced,
					sum(uncertain)::int AS uncertain, sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
					sum(cached_tokens)::bigint AS cached_tokens, sum(priced_input_tokens)::bigint AS priced_input_tokens,
					sum(priced_output_tokens)::bigint AS priced_output_tokens, sum(cost_usd) AS cost_usd,
					sum(token_cost_usd) AS token_cost_usd, sum(latency_sum)::bigint AS latency_sum,
					sum(latency_count)::int AS latency_count, sum(ttft_sum)::bigint AS ttft_sum, sum(ttft_count)::int AS ttft_count,
					sum(latencies) AS latencies, min(first_at) AS first_at,
					sum(cost_usd) FILTER (WHERE session IS NOT NULL) AS session_cost_usd,
					min(first_at) FILTER (WHERE %1$L = 'total' AND session IS NOT NULL) AS first_session_at,
					min(first_at) FILTER (WHERE %1$L = 'total' AND cardinality(tags) > 0) AS first_tag_at,
					CASE WHEN %3$L::boolean THEN bits_of(array_agg((
						SELECT p.n FROM rollup_people p WHERE p.org_id = c.org_id AND p.person = coalesce(c.user_label, c.owner)))) END AS people,
					row_number() OVER (PARTITION BY org_id, "at", scope, "value" ORDER BY channel) AS place
				FROM "cells" c GROUP BY org_id, "at", scope, "value", channel
			), "active" AS (
				SELECT org_id, "at", scope, "value", count(*) AS active_hours, count(*) FILTER (WHERE billed) AS billed_hours,
					count(DISTINCT session) AS sessions, count(DISTINCT session) FILTER (WHERE billed) AS billed_sessions
				FROM (
					SELECT org_id, "at", scope, "value", session, hour, bool_or(billed) AS billed FROM "cells"
					WHERE session IS NOT NULL GROUP BY org_id, "at", scope, "value", session, hour
				) h GROUP BY org_id, "at", scope, "value"
			)
			INSERT INTO rollup_sums (org_id, grain, kind, scope, at, value, channel, records, unpriced, uncertain, input_tokens, output_tokens,
				cached_tokens, priced_input_tokens, priced_output_tokens, cost_usd, token_cost_usd, latency_sum, latency_count, ttft_sum,
				ttft_count, latencies, first_at, session_cost_usd, first_session_at, first_tag_at, people, active_hours, billed_hours,
				sessions, billed_sessions)
			SELECT s.org_id, 'day', %1$L, s.scope, s.at, s.value, s.channel, records, unpriced, uncertain, input_tokens, output_tokens,
				cached_tokens, priced_input_tokens, priced_output_tokens, cost_usd, token_cost_usd, latency_sum, latency_count, ttft_sum,
				ttft_count, latencies, first_at, session_cost_usd, first_session_at, first_tag_at, people,
				CASE WHEN place = 1 THEN coalesce(a.active_hours, 0) ELSE 0 END, CASE WHEN place = 1 THEN coalesce(a.billed_hours, 0) ELSE 0 END,
				CASE WHEN place = 1 THEN coalesce(a.sessions, 0) ELSE 0 END, CASE WHEN place = 1 THEN coalesce(a.billed_sessions, 0) ELSE 0 END
			FROM "sums" s LEFT JOIN "active" a ON a.org_id = s.org_id AND a.at = s.at AND a.scope = s.scope AND a.value = s.value
		$sums$, "of"."kind", "of"."value", "of"."counted");
	END LOOP;
END $$;--> statement-breakpoint
DROP TABLE "kept_hours", "kept_sessions";--> statement-breakpoint
-- By hand: a logical replica copies the table from the main server, where the same persons are.
DELETE FROM "rollup_people" WHERE EXISTS (
	SELECT FROM "pg_subscription" "s" JOIN "pg_database" "d" ON "d"."oid" = "s"."subdbid" WHERE "d"."datname" = current_database());--> statement-breakpoint
CREATE INDEX "rollup_sums_at" ON "rollup_sums" USING btree ("org_id","kind","scope","grain","at");--> statement-breakpoint
-- By hand: sums have no key, so a logical replica knows their rows by all columns.
ALTER TABLE "rollup_hours" REPLICA IDENTITY FULL;--> statement-breakpoint
ALTER TABLE "rollup_sessions" REPLICA IDENTITY FULL;--> statement-breakpoint
ALTER TABLE "rollup_sums" REPLICA IDENTITY FULL;
--> statement-breakpoint
ALTER TABLE "budgets" ADD COLUMN "past_summed_at" timestamptz(3);--> statement-breakpoint
-- By hand: gateways sum up what was spent before a budget was made (gateway/stores/past-spend.ts), so that no writer waits for it.
UPDATE "budgets" SET "past_summed_at" = now();--> statement-breakpoint
DROP TRIGGER "budgets_made" ON "budgets";--> statement-breakpoint
DROP TRIGGER "budgets_moved" ON "budgets";--> statement-breakpoint
DROP FUNCTION "book_past_spend"();--> statement-breakpoint
-- By hand: a gateway of an earlier version moves a budget, and knows nothing of its past.
CREATE FUNCTION "forget_past_spend"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW."past_summed_at" := NULL;
	RETURN NEW;
END $$;--> statement-breakpoint
CREATE TRIGGER "budgets_moved" BEFORE UPDATE ON "budgets" FOR EACH ROW
	WHEN (OLD."account" <> NEW."account" AND OLD."past_summed_at" IS NOT DISTINCT FROM NEW."past_summed_at")
	EXECUTE FUNCTION "forget_past_spend"();--> statement-breakpoint
-- A batch over several routes counts in the budgets of each.
CREATE OR REPLACE FUNCTION "book_changed_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(hashtext('budgets'));
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "id", "key_id", "owner", "teams", "route", "tags", "started_at", "channel", coalesce("cost_usd", "bound_usd") AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "id", "key_id", "owner", "teams", "route", "tags", "started_at", "channel", -coalesce("cost_usd", "bound_usd") FROM "before"
	) "changed", LATERAL (SELECT paying_accounts("key_id", "owner", "teams") UNION ALL SELECT budget_accounts("route", "tags")
			UNION ALL SELECT DISTINCT "budget"."account" FROM "batches" "batch", "budgets" "budget"
			WHERE "changed"."channel" = 'batch' AND "changed"."route" = '(several)' AND "batch"."org_id" = "changed"."org_id" AND "batch"."key_id" = "changed"."key_id"
				AND "batch"."started_at" = "changed"."started_at" AND "batch"."record_id" = "changed"."id"
				AND "budget"."kind" = 'route' AND "budget"."scope_id" = ANY ("batch"."routes")) "paying" ("account")
	WHERE "usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;
--> statement-breakpoint
ALTER TABLE "price_list_fetches" ADD COLUMN "missing" text[] COLLATE "C";
--> statement-breakpoint
ALTER TABLE "rollup_state" ADD COLUMN "hours_from" timestamptz(3);--> statement-breakpoint
ALTER TABLE "rollup_state" ADD COLUMN "hours_to" timestamptz(3);--> statement-breakpoint
-- By hand: a gateway of an earlier version does not make the hours of a month before it drops the month. It takes this code for
-- a lock that is held: nothing is dropped, and it continues.
CREATE FUNCTION "refuse_lost_hours"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the hours of this month are not kept yet' USING ERRCODE = 'lock_not_available';
END $$;--> statement-breakpoint
CREATE TRIGGER "rollup_state_hours" BEFORE UPDATE ON "rollup_state" FOR EACH ROW
	WHEN (NEW."raw_from" > coalesce(OLD."raw_from", '-infinity') AND NEW."hours_from" IS NOT NULL
		AND NEW."raw_from" > coalesce(NEW."hours_to", '-infinity'))
	EXECUTE FUNCTION "refuse_lost_hours"();--> statement-breakpoint
-- By hand: their rows are replaced often, and room that is not used again soon is what they would grow by.
ALTER TABLE "rollup_hours" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "rollup_sessions" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "rollup_sums" SET (autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
DROP INDEX "limit_holds_holder";--> statement-breakpoint
DROP INDEX "limit_holds_key";--> statement-breakpoint
CREATE INDEX "limit_holds_key" ON "limit_holds" USING btree ("key_id");--> statement-breakpoint
-- By hand: an ended call's row stays on its page, and a stored record's is found by its call.
ALTER TABLE "limit_holds" SET (fillfactor = 70);--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_new_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(hashtext('budgets'));
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum(coalesce("cost_usd", "bound_usd")) FROM "booked",
		LATERAL (SELECT paying_accounts("key_id", "owner", "teams") UNION ALL SELECT budget_accounts("route", "tags")
			UNION ALL SELECT DISTINCT "budget"."account" FROM "batches" "batch", "budgets" "budget"
			WHERE "booked"."channel" = 'batch' AND "booked"."route" = '(several)' AND "batch"."org_id" = "booked"."org_id" AND "batch"."key_id" = "booked"."key_id"
				AND "batch"."started_at" = "booked"."started_at" AND "batch"."record_id" = "booked"."id"
				AND "budget"."kind" = 'route' AND "budget"."scope_id" = ANY ("batch"."routes")) "paying" ("account")
	WHERE coalesce("cost_usd", "bound_usd") <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	DELETE FROM "limit_holds" WHERE "org_id" = ANY (ARRAY(SELECT DISTINCT "org_id" FROM "booked"))
		AND "call_id" = ANY (ARRAY(SELECT "id" FROM "booked"));
	INSERT INTO "session_agents" ("org_id", "session", "agent_session")
	SELECT DISTINCT "org_id", "session", "agent" FROM "booked", LATERAL (VALUES ("agent_session"), ("parent_session")) AS "own" ("agent")
	WHERE "agent" <> "session" ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
--> statement-breakpoint
ALTER TABLE "rollup_state" ADD COLUMN "sums_to" timestamptz(3);
--> statement-breakpoint
ALTER TABLE "limit_turns" ADD COLUMN "holder" uuid;--> statement-breakpoint
ALTER TABLE "limit_turns" ADD COLUMN "alone_until" timestamptz(3);
