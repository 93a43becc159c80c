-- Reports and the writer of rollups read this table before the others: in another order they and this would wait for each other.
LOCK TABLE "rollup_state" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE INDEX "rollup_cells_no_session" ON "rollup_cells" USING btree ("org_id","day") WHERE "rollup_cells"."session" is null;--> statement-breakpoint
CREATE INDEX "rollup_sessions_no_session" ON "rollup_sessions" USING btree ("org_id","day") WHERE "rollup_sessions"."session" is null;