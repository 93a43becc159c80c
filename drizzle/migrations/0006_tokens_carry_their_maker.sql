ALTER TABLE "admin_tokens" ALTER COLUMN "role" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "admin_tokens" ADD COLUMN "scopes" text[] COLLATE "C";--> statement-breakpoint
ALTER TABLE "admin_tokens" ADD COLUMN "repository" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "admin_tokens" ADD COLUMN "maker" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "service" boolean DEFAULT false NOT NULL;--> statement-breakpoint
-- Tokens without a maker end with no one: they end at their date, or 90 days after the upgrade.
UPDATE "admin_tokens" SET "expires_at" = least("expires_at", now() + interval '90 days');
