-- Reports and the writer of rollups read this table before the others: in another order they and this would wait for each other.
LOCK TABLE "rollup_state" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "rollup_sessions" ADD COLUMN "several" boolean NOT NULL DEFAULT false;--> statement-breakpoint
-- An earlier version, which does not tell, adds no rows.
ALTER TABLE "rollup_sessions" ALTER COLUMN "several" DROP DEFAULT;--> statement-breakpoint
-- As if days had been summed up in their order.
UPDATE "rollup_sessions" r SET "several" = true
WHERE EXISTS (
  SELECT FROM "rollup_sessions" o
  WHERE o.org_id = r.org_id AND o.session = r.session AND (o.day < r.day OR o.day = r.day AND o.cell <> r.cell)
);--> statement-breakpoint
CREATE INDEX "rollup_sessions_several" ON "rollup_sessions" USING btree ("org_id","day") WHERE "rollup_sessions"."several";--> statement-breakpoint
ANALYZE "rollup_sessions";
