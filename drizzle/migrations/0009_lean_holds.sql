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
