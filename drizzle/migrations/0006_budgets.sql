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
