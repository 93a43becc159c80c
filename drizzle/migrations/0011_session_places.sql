CREATE TABLE "session_marks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	CONSTRAINT "session_marks_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE TABLE "session_places" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	"declarer" text COLLATE "C",
	"agent" text COLLATE "C",
	"since" timestamptz(3),
	"place" smallint NOT NULL,
	CONSTRAINT "session_places_org_id_id_pk" PRIMARY KEY("org_id","id")
);
--> statement-breakpoint
CREATE INDEX "session_places_session" ON "session_places" USING btree ("org_id","session");
--> statement-breakpoint
-- By hand: sessions are marked whose explanation may have changed; those linked to them are found when they are judged.
CREATE FUNCTION "mark_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"org" text := coalesce(NEW."org_id", OLD."org_id");
BEGIN
	IF TG_TABLE_NAME = 'pull_requests' THEN
		IF TG_OP <> 'UPDATE' OR (NEW."session_ids", NEW."link", NEW."state", NEW."merged_at", NEW."head_branch", NEW."head_repository",
			NEW."author_login") IS DISTINCT FROM (OLD."session_ids", OLD."link", OLD."state", OLD."merged_at", OLD."head_branch",
			OLD."head_repository", OLD."author_login") THEN
			INSERT INTO "session_marks" ("org_id", "session")
			SELECT "org", unnest(NEW."session_ids") UNION SELECT "org", unnest(OLD."session_ids");
		END IF;
	ELSIF TG_TABLE_NAME = 'session_links' THEN
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT "org", coalesce(NEW."session", OLD."session") UNION SELECT "org", coalesce(NEW."of_session", OLD."of_session");
	ELSIF TG_TABLE_NAME = 'session_contexts' THEN
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT "org", NEW."session" UNION
		SELECT "org", "it"."session" FROM "session_agents" "it" WHERE "it"."org_id" = "org" AND "it"."agent_session" = NEW."session";
	ELSIF TG_TABLE_NAME = 'session_agents' THEN
		INSERT INTO "session_marks" ("org_id", "session") SELECT "org", NEW."session"
		WHERE EXISTS (SELECT FROM "session_contexts" "it" WHERE "it"."org_id" = "org" AND "it"."session" = NEW."agent_session");
	ELSIF TG_TABLE_NAME = 'people' THEN
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT DISTINCT "org", "it"."session" FROM "session_links" "it"
		WHERE "it"."org_id" = "org" AND "it"."declarer" IN (NEW."email", OLD."email");
	ELSE
		INSERT INTO "session_marks" ("org_id", "session")
		SELECT DISTINCT "org", "concerned" FROM (
			SELECT "session" AS "concerned", "repository" FROM "session_links" WHERE "org_id" = "org"
			UNION ALL SELECT "it"."session", "repository" FROM "session_contexts" "it" WHERE "it"."org_id" = "org"
			UNION ALL SELECT "by"."session", "repository" FROM "session_contexts" "it" JOIN "session_agents" "by"
				ON "by"."org_id" = "it"."org_id" AND "by"."agent_session" = "it"."session" WHERE "it"."org_id" = "org"
		) "of" WHERE "repository" IN (SELECT lower("name") FROM (
			SELECT NEW."full_name" UNION SELECT OLD."full_name" UNION SELECT jsonb_array_elements_text(NEW."former_names")
			UNION SELECT jsonb_array_elements_text(OLD."former_names")) "names" ("name"));
	END IF;
	RETURN NULL;
END $$;--> statement-breakpoint
-- Who made the first call of a session owns it, and may have links to it. Records are not looked up: that would lock all months of them.
CREATE FUNCTION "mark_called_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "session_marks" ("org_id", "session")
	SELECT DISTINCT "org_id", "session" FROM "written"
	WHERE EXISTS (SELECT FROM "session_links" "it"
		WHERE "it"."org_id" = "written"."org_id" AND "it"."of_session" = "written"."session" AND "it"."session" <> "it"."of_session");
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "pull_requests_mark" AFTER INSERT OR UPDATE OR DELETE ON "pull_requests"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "session_links_mark" AFTER INSERT OR UPDATE OR DELETE ON "session_links"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "session_contexts_mark" AFTER INSERT ON "session_contexts"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "session_agents_mark" AFTER INSERT ON "session_agents"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "people_mark" AFTER INSERT OR UPDATE OF "email", "github_login" OR DELETE ON "people"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "repositories_mark" AFTER INSERT OR UPDATE OR DELETE ON "repositories"
	FOR EACH ROW EXECUTE FUNCTION "mark_sessions"();--> statement-breakpoint
CREATE TRIGGER "requests_mark" AFTER INSERT ON "requests" REFERENCING NEW TABLE AS "written"
	FOR EACH STATEMENT EXECUTE FUNCTION "mark_called_sessions"();--> statement-breakpoint
INSERT INTO "session_marks" ("org_id", "session")
SELECT "org_id", unnest("session_ids") FROM "pull_requests" UNION SELECT "org_id", "session" FROM "session_links"
UNION SELECT "org_id", "session" FROM "session_contexts" UNION SELECT "by"."org_id", "by"."session" FROM "session_contexts" "it"
	JOIN "session_agents" "by" ON "by"."org_id" = "it"."org_id" AND "by"."agent_session" = "it"."session";
