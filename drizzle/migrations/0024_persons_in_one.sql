-- Reports and the writer of rollups read this table before the others: in another order they and this would wait for each other.
LOCK TABLE "rollup_state" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
-- Who has a label has one owner or few: without knowing so the server takes groups of them for many more than there are.
CREATE STATISTICS "rollup_cells_person" (ndistinct) ON "owner", "user_label" FROM "rollup_cells";--> statement-breakpoint
CREATE STATISTICS "rollup_sessions_person" (ndistinct) ON "owner", "user_label" FROM "rollup_sessions";--> statement-breakpoint
ANALYZE "rollup_cells", "rollup_sessions";
