CREATE TABLE "key_spend" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"day" date NOT NULL,
	"usd" numeric NOT NULL,
	CONSTRAINT "key_spend_org_id_key_id_day_pk" PRIMARY KEY("org_id","key_id","day")
);
--> statement-breakpoint
CREATE TABLE "limit_holders" (
	"holder" uuid PRIMARY KEY NOT NULL,
	"seen_at" timestamptz(3) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "limit_holds" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"call_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"holder" uuid NOT NULL,
	"started_at" timestamptz(3) NOT NULL,
	"usd" numeric NOT NULL,
	"ended" boolean DEFAULT false NOT NULL,
	CONSTRAINT "limit_holds_org_id_call_id_pk" PRIMARY KEY("org_id","call_id")
);
--> statement-breakpoint
CREATE TABLE "limit_leases" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"holder" uuid NOT NULL,
	"period" date NOT NULL,
	"usd" numeric NOT NULL,
	"calls" integer NOT NULL,
	CONSTRAINT "limit_leases_org_id_key_id_holder_pk" PRIMARY KEY("org_id","key_id","holder")
);
--> statement-breakpoint
CREATE TABLE "limit_rates" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"key_id" uuid NOT NULL,
	"slot" bigint NOT NULL,
	"requests" integer NOT NULL,
	"tokens" bigint NOT NULL,
	CONSTRAINT "limit_rates_org_id_key_id_slot_pk" PRIMARY KEY("org_id","key_id","slot")
);
--> statement-breakpoint
CREATE INDEX "limit_holds_key" ON "limit_holds" USING btree ("org_id","key_id");--> statement-breakpoint
CREATE INDEX "limit_holds_holder" ON "limit_holds" USING btree ("holder");--> statement-breakpoint
-- What is spent is the sum of the records, whoever writes them; keys in order, so that two writers never wait for each other in a circle.
CREATE FUNCTION "book_new_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "key_id", ("started_at" AT TIME ZONE 'UTC')::date, sum("cost_usd") FROM "booked"
	WHERE "cost_usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	DELETE FROM "limit_holds" "hold" USING "booked"
	WHERE "hold"."org_id" = "booked"."org_id" AND "hold"."call_id" = "booked"."id";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "book_changed_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "key_spend" AS "spent" ("org_id", "key_id", "day", "usd")
	SELECT "org_id", "key_id", ("started_at" AT TIME ZONE 'UTC')::date, sum("usd") FROM (
		SELECT "org_id", "key_id", "started_at", "channel", "cost_usd" AS "usd" FROM "after"
		UNION ALL SELECT "org_id", "key_id", "started_at", "channel", -"cost_usd" FROM "before"
	) "changed"
	WHERE "usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3 HAVING sum("usd") <> 0 ORDER BY 1, 2, 3
	ON CONFLICT ("org_id", "key_id", "day") DO UPDATE SET "usd" = "spent"."usd" + excluded."usd";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "requests_book_new" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "booked"
	FOR EACH STATEMENT EXECUTE FUNCTION "book_new_records"();--> statement-breakpoint
CREATE TRIGGER "requests_book_changed" AFTER UPDATE ON "requests" REFERENCING OLD TABLE AS "before" NEW TABLE AS "after"
	FOR EACH STATEMENT EXECUTE FUNCTION "book_changed_records"();--> statement-breakpoint
INSERT INTO "key_spend" ("org_id", "key_id", "day", "usd")
SELECT "org_id", "key_id", ("started_at" AT TIME ZONE 'UTC')::date, sum("cost_usd") FROM "requests"
WHERE "cost_usd" <> 0 AND "channel" <> 'subscription' GROUP BY 1, 2, 3;
