ALTER TABLE "pull_requests" ADD COLUMN "base_branch" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "kind" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "additions" integer;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "deletions" integer;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "changed_files" integer;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "size_at" timestamptz(3);