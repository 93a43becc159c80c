DROP INDEX "sign_in_accounts_account";--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "unmapped" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "sign_in_accounts" ADD COLUMN "issuer" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "sign_in_accounts" ADD COLUMN "groups" text[] COLLATE "C" DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_accounts_account" ON "sign_in_accounts" USING btree ("org_id","provider_id","issuer","account_id");