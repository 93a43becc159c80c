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
CREATE UNIQUE INDEX "session_links_counts" ON "session_links" USING btree ("org_id","session","declarer") WHERE "session_links"."counts";