ALTER TABLE "files" ADD COLUMN "bound_usd" numeric;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "unpriced" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "budget_usd" numeric;--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "budget_period" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "unpriced" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "own" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "teams" ADD COLUMN "unpriced" text COLLATE "C";--> statement-breakpoint
-- Budgets that exist keep admitting models without a price; new ones refuse them.
UPDATE "keys" SET "limits" = "limits" || '{"unpriced": "allow"}' WHERE "limits" ? 'budget_usd';--> statement-breakpoint
UPDATE "teams" SET "unpriced" = 'allow' WHERE "budget_usd" IS NOT NULL;--> statement-breakpoint
-- A key that its owner made has the e-mail behind its name.
UPDATE "keys" SET "own" = true WHERE "owner" IS NOT NULL AND right("name", length("owner") + 3) = ' (' || "owner" || ')';--> statement-breakpoint
-- What a record costs is booked for its key, its owner, and its team with the teams above, under their accounts.
CREATE FUNCTION "paying_accounts"("key_id" uuid, "owner" text, "teams" text[]) RETURNS SETOF uuid LANGUAGE sql IMMUTABLE AS $$
	SELECT "key_id"
	UNION ALL SELECT md5('person ' || lower("owner" COLLATE "C"))::uuid WHERE "owner" IS NOT NULL
	UNION ALL SELECT md5('team ' || "team")::uuid FROM unnest("teams") "team"
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_new_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum(coalesce("cost_usd", "bound_usd")) FROM "booked",
		LATERAL paying_accounts("key_id", "owner", "teams") "paying" ("account")
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
		SELECT "org_id", "key_id", "owner", "teams", "started_at", "channel", coalesce("cost_usd", "bound_usd") AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "owner", "teams", "started_at", "channel", -coalesce("cost_usd", "bound_usd") FROM "before"
	) "changed", LATERAL paying_accounts("key_id", "owner", "teams") "paying" ("account")
	WHERE "usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_new_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("cost_usd") FROM "booked",
		LATERAL paying_accounts("key_id", "owner", "teams") "paying" ("account")
	WHERE "cost_usd" <> 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "book_changed_tool_calls"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "account", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "owner", "teams", "started_at", "cost_usd" AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "owner", "teams", "started_at", -"cost_usd" FROM "before"
	) "changed", LATERAL paying_accounts("key_id", "owner", "teams") "paying" ("account")
	WHERE "usd" <> 0 GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
-- Budgets count from the first day of a month.
INSERT INTO "key_spend" ("org_id", "key_id", "day", "usd")
SELECT "org_id", md5('person ' || lower("owner"))::uuid, "day", sum("usd") FROM (
	SELECT "org_id", "owner", ("started_at" AT TIME ZONE 'UTC')::date AS "day", coalesce("cost_usd", "bound_usd") AS "usd"
	FROM "requests" WHERE "channel" <> 'subscription' AND "started_at" >= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
	UNION ALL SELECT "org_id", "owner", ("started_at" AT TIME ZONE 'UTC')::date, "cost_usd"
	FROM "tool_calls" WHERE "started_at" >= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
) "booked" WHERE "owner" IS NOT NULL AND "usd" <> 0 GROUP BY 1, 2, 3;
