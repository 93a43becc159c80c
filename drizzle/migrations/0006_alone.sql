ALTER TABLE "limit_turns" ADD COLUMN "holder" uuid;--> statement-breakpoint
ALTER TABLE "limit_turns" ADD COLUMN "alone_until" timestamptz(3);