-- Reports and the writer of rollups read this table before the others: in another order they and this would wait for each other.
LOCK TABLE "rollup_state" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
-- A row changes on each day of its month: its next version finds a place beside it, and the index stays as it is.
CREATE TABLE "rollup_seen_new" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"who" uuid NOT NULL,
	"month" date NOT NULL,
	"days" integer NOT NULL,
	"billed_days" integer NOT NULL,
	"hours" "bytea" NOT NULL,
	"billed_hours" "bytea" NOT NULL
) WITH (fillfactor = 50);--> statement-breakpoint
-- A row for each month in place of one for each day: a byte of the hours for each day, 255 where there is none.
INSERT INTO "rollup_seen_new" (org_id, who, month, days, billed_days, hours, billed_hours)
SELECT org_id, who, month, bit_or(1 << place), coalesce(bit_or(1 << place) FILTER (WHERE billed_hour IS NOT NULL), 0),
  decode(rpad(string_agg(skipped || lpad(to_hex(hour), 2, '0'), '' ORDER BY place), 62, 'f'), 'hex'),
  decode(rpad(string_agg(skipped || lpad(to_hex(coalesce(billed_hour, 255)), 2, '0'), '' ORDER BY place), 62, 'f'), 'hex')
FROM (
  SELECT *, repeat('ff', place - lag(place, 1, -1) OVER (PARTITION BY org_id, who, month ORDER BY place) - 1) AS skipped
  FROM (
    SELECT org_id, who, hour::int, billed_hour::int, date_trunc('month', day::timestamp)::date AS month,
      extract(day FROM day)::int - 1 AS place
    FROM "rollup_seen"
  ) d
) d
GROUP BY org_id, who, month;--> statement-breakpoint
DROP TABLE "rollup_seen";--> statement-breakpoint
ALTER TABLE "rollup_seen_new" RENAME TO "rollup_seen";--> statement-breakpoint
ALTER TABLE "rollup_seen" ADD CONSTRAINT "rollup_seen_org_id_who_month_pk" PRIMARY KEY("org_id","who","month");--> statement-breakpoint
ANALYZE "rollup_seen";
