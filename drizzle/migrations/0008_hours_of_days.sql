ALTER TABLE "rollup_state" ADD COLUMN "hours_from" timestamptz(3);--> statement-breakpoint
ALTER TABLE "rollup_state" ADD COLUMN "hours_to" timestamptz(3);--> statement-breakpoint
-- By hand: their rows are replaced often, and room that is not used again soon is what they would grow by.
ALTER TABLE "rollup_hours" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "rollup_sessions" SET (autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "rollup_sums" SET (autovacuum_vacuum_scale_factor = 0.05);
