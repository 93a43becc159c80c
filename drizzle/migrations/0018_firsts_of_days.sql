DROP TABLE "rollup_gap_hours" CASCADE;--> statement-breakpoint
ALTER TABLE "rollup_gaps" ADD COLUMN "firsts" integer[];