ALTER TABLE "pull_requests" ADD COLUMN "body_edited" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "reviews" ADD COLUMN "body_edited" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_inbox" ADD COLUMN "next_attempt_at" timestamptz(3);--> statement-breakpoint
CREATE INDEX "pull_requests_unknown_session" ON "pull_requests" USING btree ("org_id","repository_id","number") WHERE "pull_requests"."link" = 'unknown_session';