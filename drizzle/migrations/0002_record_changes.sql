CREATE TABLE "record_changes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"team" text COLLATE "C" NOT NULL,
	"part" uuid DEFAULT gen_random_uuid() NOT NULL,
	"changes" bigint NOT NULL,
	CONSTRAINT "record_changes_org_id_team_part_pk" PRIMARY KEY("org_id","team","part")
);
--> statement-breakpoint
-- By hand: a change counts when it commits, and never waits for another writer: it takes a part that is free, or makes one.
CREATE FUNCTION "count_change"("of_org" text, "of_team" text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	"free" uuid;
BEGIN
	SELECT "part" INTO "free" FROM "record_changes"
	WHERE "org_id" = "of_org" AND "team" = "of_team" LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
	IF FOUND THEN
		UPDATE "record_changes" SET "changes" = "changes" + 1
		WHERE "org_id" = "of_org" AND "team" = "of_team" AND "part" = "free";
	ELSE
		INSERT INTO "record_changes" ("org_id", "team", "changes") VALUES ("of_org", "of_team", 1);
	END IF;
END $$;--> statement-breakpoint
CREATE FUNCTION "count_changed_records"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM "count_change"("org_id", "whose") FROM (
		SELECT DISTINCT "org_id", "whose" FROM "written", LATERAL (SELECT '*' UNION ALL SELECT unnest("teams")) "it" ("whose")
	) "concerned";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "count_changed_joins"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM "count_change"("org_id", '') FROM (SELECT DISTINCT "org_id" FROM "written") "concerned";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "requests_count_new" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_records"();--> statement-breakpoint
CREATE TRIGGER "requests_count_changed" AFTER UPDATE ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_records"();--> statement-breakpoint
CREATE TRIGGER "tool_calls_count_new" AFTER INSERT ON "tool_calls" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_records"();--> statement-breakpoint
CREATE TRIGGER "tool_calls_count_changed" AFTER UPDATE ON "tool_calls" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_records"();--> statement-breakpoint
CREATE TRIGGER "agent_points_count_new" AFTER INSERT ON "agent_points" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_records"();--> statement-breakpoint
CREATE TRIGGER "agent_points_count_changed" AFTER UPDATE ON "agent_points" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_records"();--> statement-breakpoint
CREATE TRIGGER "pull_requests_count_new" AFTER INSERT ON "pull_requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "pull_requests_count_changed" AFTER UPDATE ON "pull_requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "pull_requests_count_gone" AFTER DELETE ON "pull_requests" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "pull_request_commits_count_new" AFTER INSERT ON "pull_request_commits" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "pull_request_commits_count_changed" AFTER UPDATE ON "pull_request_commits" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "reviews_count_new" AFTER INSERT ON "reviews" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "reviews_count_changed" AFTER UPDATE ON "reviews" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "reviews_count_gone" AFTER DELETE ON "reviews" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "repositories_count_new" AFTER INSERT ON "repositories" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "repositories_count_changed" AFTER UPDATE ON "repositories" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "session_links_count_new" AFTER INSERT ON "session_links" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "session_links_count_changed" AFTER UPDATE ON "session_links" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();--> statement-breakpoint
CREATE TRIGGER "session_links_count_gone" AFTER DELETE ON "session_links" REFERENCING OLD TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_joins"();
