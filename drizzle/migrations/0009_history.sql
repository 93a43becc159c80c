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
