ALTER TABLE "digests" RENAME COLUMN "busy_until" TO "leased_until";--> statement-breakpoint
ALTER TABLE "github_feedback" RENAME COLUMN "busy_until" TO "leased_until";--> statement-breakpoint
ALTER TABLE "pull_request_commits" RENAME COLUMN "busy_until" TO "leased_until";--> statement-breakpoint
DROP TABLE "github_turns";--> statement-breakpoint
CREATE TABLE "github_tasks" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"done_at" timestamptz(3),
	"leased_until" timestamptz(3),
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamptz(3),
	"failure" text COLLATE "C",
	CONSTRAINT "github_tasks_org_id_name_pk" PRIMARY KEY("org_id","name")
);
