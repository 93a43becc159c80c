ALTER TABLE "clickhouse_state" ADD COLUMN "database_id" uuid;--> statement-breakpoint
ALTER TABLE "clickhouse_state" ADD COLUMN "compared_at" timestamptz(3);--> statement-breakpoint
-- By hand: rows that are deleted are marked for ClickHouse, too, so that their copies go.
CREATE TRIGGER "requests_mark_deleted" AFTER DELETE ON "requests" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id, started_at');--> statement-breakpoint
CREATE TRIGGER "tool_calls_mark_deleted" AFTER DELETE ON "tool_calls" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('origin, external_id');--> statement-breakpoint
CREATE TRIGGER "agent_points_mark_deleted" AFTER DELETE ON "agent_points" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('hash');--> statement-breakpoint
CREATE TRIGGER "keys_mark_deleted" AFTER DELETE ON "keys" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "repositories_mark_deleted" AFTER DELETE ON "repositories" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('id');--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark_deleted" AFTER DELETE ON "pull_requests" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, number');--> statement-breakpoint
CREATE TRIGGER "reviews_mark_deleted" AFTER DELETE ON "reviews" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_for_clickhouse"('repository_id, id');
