CREATE TABLE "master_key_checks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	CONSTRAINT "master_key_checks_org_id_pk" PRIMARY KEY("org_id")
);--> statement-breakpoint
DROP INDEX "session_links_counts";--> statement-breakpoint
ALTER TABLE "session_links" DROP CONSTRAINT "session_links_org_id_session_of_session_pk";--> statement-breakpoint
ALTER TABLE "session_links" ADD COLUMN "declarer" text COLLATE "C";--> statement-breakpoint
-- Whoever declared a link is its key's owner, or a key without one.
UPDATE "session_links" "link" SET "declarer" = lower(coalesce(
	(SELECT "key"."owner" FROM "keys" "key" WHERE "key"."org_id" = "link"."org_id" AND "key"."id" = "link"."key_id"), "link"."key_id"::text));--> statement-breakpoint
ALTER TABLE "session_links" ALTER COLUMN "declarer" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "session_links" ADD CONSTRAINT "session_links_org_id_session_declarer_of_session_pk" PRIMARY KEY("org_id","session","declarer","of_session");--> statement-breakpoint
ALTER TABLE "session_links" ADD COLUMN "repository" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "session_links" ADD COLUMN "branch" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "session_links" ADD COLUMN "removed_at" timestamptz(3);--> statement-breakpoint
CREATE UNIQUE INDEX "session_links_counts" ON "session_links" USING btree ("org_id","session","declarer") WHERE "session_links"."counts";--> statement-breakpoint
DROP INDEX "sign_in_accounts_account";--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "unmapped" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "sign_in_accounts" ADD COLUMN "issuer" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "sign_in_accounts" ADD COLUMN "groups" text[] COLLATE "C" DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_accounts_account" ON "sign_in_accounts" USING btree ("org_id","provider_id","issuer","account_id");--> statement-breakpoint
ALTER TABLE "admin_tokens" ALTER COLUMN "role" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "admin_tokens" ADD COLUMN "scopes" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "admin_tokens" ADD COLUMN "repository" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "admin_tokens" ADD COLUMN "maker" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "service" boolean DEFAULT false NOT NULL;--> statement-breakpoint
-- Tokens without a maker end with no one: they end at their date, or 90 days after the upgrade.
UPDATE "admin_tokens" SET "expires_at" = least("expires_at", now() + interval '90 days');--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "cache_read_audio_tokens" integer;--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "file_searches" integer;--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "location" text COLLATE "C";--> statement-breakpoint
-- Headers of providers may be secret: the audit log keeps the ends of their values. Rows are sealed by the gateway's start.
CREATE FUNCTION "pg_temp"."with_header_ends"(state jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE WHEN jsonb_typeof(state->'headers') = 'object' THEN jsonb_set(state, '{headers}', (
		SELECT coalesce(jsonb_object_agg(key, CASE
			WHEN lower(key) IN ('accept', 'accept-language', 'anthropic-beta', 'anthropic-version', 'http-referer', 'openai-beta',
				'openai-organization', 'openai-project', 'referer', 'user-agent', 'x-goog-user-project', 'x-title') THEN value
			WHEN length(value) < 12 THEN '…'
			ELSE '…' || right(value, 4) END), '{}')
		FROM jsonb_each_text(state->'headers'))) ELSE state END $$;--> statement-breakpoint
ALTER TABLE "audit_entries" DISABLE TRIGGER "audit_entries_kept";--> statement-breakpoint
UPDATE "audit_entries" SET "before" = "pg_temp"."with_header_ends"("before"), "after" = "pg_temp"."with_header_ends"("after")
	WHERE "action" IN ('provider.set', 'provider.deleted');--> statement-breakpoint
ALTER TABLE "audit_entries" ENABLE TRIGGER "audit_entries_kept";--> statement-breakpoint
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
) "booked" WHERE "owner" IS NOT NULL AND "usd" <> 0 GROUP BY 1, 2, 3;--> statement-breakpoint
CREATE TABLE "scim_group_members" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"group_id" uuid NOT NULL,
	"person_id" uuid NOT NULL,
	CONSTRAINT "scim_group_members_org_id_group_id_person_id_pk" PRIMARY KEY("org_id","group_id","person_id")
);
--> statement-breakpoint
CREATE TABLE "scim_groups" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"external_id" text COLLATE "C",
	"created_at" timestamptz(3) NOT NULL,
	"updated_at" timestamptz(3) NOT NULL,
	CONSTRAINT "scim_groups_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE INDEX "scim_group_members_person" ON "scim_group_members" USING btree ("org_id","person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "scim_groups_name" ON "scim_groups" USING btree ("org_id","name");--> statement-breakpoint
ALTER TABLE "session_links" ADD COLUMN "clone" text COLLATE "C";
