ALTER TABLE "budgets" ADD COLUMN "past_summed_at" timestamptz(3);--> statement-breakpoint
-- By hand: gateways sum up what was spent before a budget was made (gateway/stores/past-spend.ts), so that no writer waits for it.
UPDATE "budgets" SET "past_summed_at" = now();--> statement-breakpoint
DROP TRIGGER "budgets_made" ON "budgets";--> statement-breakpoint
DROP TRIGGER "budgets_moved" ON "budgets";--> statement-breakpoint
DROP FUNCTION "book_past_spend"();--> statement-breakpoint
-- A batch over several routes counts in the budgets of each.
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
