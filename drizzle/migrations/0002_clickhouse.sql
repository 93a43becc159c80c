CREATE TABLE "clickhouse_marks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"relation" text COLLATE "C" NOT NULL,
	"rows" integer NOT NULL,
	"keys" jsonb NOT NULL,
	"marked_at" timestamptz(3) DEFAULT now() NOT NULL,
	CONSTRAINT "clickhouse_marks_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "clickhouse_moves" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"relation" text COLLATE "C" NOT NULL,
	"moved_to" timestamptz(3) NOT NULL,
	CONSTRAINT "clickhouse_moves_org_id_relation_pk" PRIMARY KEY("org_id","relation")
);
--> statement-breakpoint
CREATE TABLE "clickhouse_state" (
	"org_id" text COLLATE "C" PRIMARY KEY DEFAULT 'default' NOT NULL,
	"version" bigint NOT NULL
);
--> statement-breakpoint
-- By hand: rows that come or change are marked for ClickHouse where a gateway copies them there. A mark names a thousand rows
-- at most. The argument has the columns of the key.
CREATE FUNCTION "mark_for_clickhouse"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM "clickhouse_state") THEN
		EXECUTE format('INSERT INTO "clickhouse_marks" ("org_id", "relation", "rows", "keys")
			SELECT "org_id", %L, count(*), jsonb_agg(to_jsonb("key") - ''org_id'' - ''part'')
			FROM (SELECT "org_id", %s, (row_number() OVER () - 1) / 1000 AS "part" FROM "written") "key"
			GROUP BY "org_id", "part"', TG_TABLE_NAME, TG_ARGV[0]);
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "requests_mark_new" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id, started_at');--> statement-breakpoint
CREATE TRIGGER "requests_mark_changed" AFTER UPDATE ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id, started_at');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_new" AFTER INSERT ON "tool_calls" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_changed" AFTER UPDATE ON "tool_calls" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id');--> statement-breakpoint
CREATE TRIGGER "agent_points_mark_new" AFTER INSERT ON "agent_points" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('hash');--> statement-breakpoint
CREATE TRIGGER "agent_points_mark_changed" AFTER UPDATE ON "agent_points" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('hash');--> statement-breakpoint
CREATE TRIGGER "keys_mark_new" AFTER INSERT ON "keys" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "keys_mark_changed" AFTER UPDATE ON "keys" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "repositories_mark_new" AFTER INSERT ON "repositories" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "repositories_mark_changed" AFTER UPDATE ON "repositories" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark_new" AFTER INSERT ON "pull_requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, number');--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark_changed" AFTER UPDATE ON "pull_requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, number');--> statement-breakpoint
CREATE TRIGGER "reviews_mark_new" AFTER INSERT ON "reviews" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, id');--> statement-breakpoint
CREATE TRIGGER "reviews_mark_changed" AFTER UPDATE ON "reviews" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, id');
