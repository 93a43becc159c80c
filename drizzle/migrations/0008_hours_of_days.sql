ALTER TABLE "rollup_state" ADD COLUMN "hours_from" timestamptz(3);--> statement-breakpoint
ALTER TABLE "rollup_state" ADD COLUMN "hours_to" timestamptz(3);