-- By hand: ClickHouse has a tool call by the hour of its start, so a start that moves marks both hours. The second argument is
-- where the rows to mark are read, if not those that were written.
CREATE OR REPLACE FUNCTION "mark_for_clickhouse"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM "clickhouse_state") THEN
		EXECUTE format('INSERT INTO "clickhouse_marks" ("org_id", "relation", "rows", "keys")
			SELECT "org_id", %L, count(*), jsonb_agg(to_jsonb("key") - ''org_id'' - ''part'')
			FROM (SELECT "org_id", %s, (row_number() OVER () - 1) / 1000 AS "part" FROM %s "rows") "key"
			GROUP BY "org_id", "part"', TG_TABLE_NAME, TG_ARGV[0], coalesce(TG_ARGV[1], '"written"'));
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
DROP TRIGGER "tool_calls_mark_new" ON "tool_calls";--> statement-breakpoint
DROP TRIGGER "tool_calls_mark_changed" ON "tool_calls";--> statement-breakpoint
DROP TRIGGER "tool_calls_mark_deleted" ON "tool_calls";--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_new" AFTER INSERT ON "tool_calls" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id, date_trunc(''hour'', started_at, ''UTC'') AS started_at');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_changed" AFTER UPDATE ON "tool_calls" REFERENCING OLD TABLE AS "before" NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id, started_at',
		'(SELECT org_id, origin, external_id, date_trunc(''hour'', started_at, ''UTC'') AS started_at FROM "before"
			UNION SELECT org_id, origin, external_id, date_trunc(''hour'', started_at, ''UTC'') FROM "written")');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_deleted" AFTER DELETE ON "tool_calls" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id, date_trunc(''hour'', started_at, ''UTC'') AS started_at');--> statement-breakpoint
-- Marks that wait name their calls in the new way.
UPDATE "clickhouse_marks" m SET "keys" = (
	SELECT coalesce(jsonb_agg(k || jsonb_build_object('started_at', date_trunc('hour', t."started_at", 'UTC'))), '[]')
	FROM jsonb_array_elements(m."keys") k JOIN "tool_calls" t
		ON t."org_id" = m."org_id" AND t."origin" = k ->> 'origin' AND t."external_id" = k ->> 'external_id'
) WHERE "relation" = 'tool_calls';
