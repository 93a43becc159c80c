ALTER TABLE "rollup_cells" ADD COLUMN "of_model" integer;--> statement-breakpoint
ALTER TABLE "rollup_cells" ADD COLUMN "of_route" integer;--> statement-breakpoint
-- The one writer of rollups makes the cells of days anew, and an earlier version adds none.
UPDATE "rollup_state" SET "packed_from" = '9999-12-31';--> statement-breakpoint
ALTER TABLE "rollup_cells" ADD CONSTRAINT "rollup_cells_counted" CHECK (of_model is not null and of_route is not null) NOT VALID;
