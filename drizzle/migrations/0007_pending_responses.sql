ALTER TABLE "requests" ADD COLUMN "pending" boolean;--> statement-breakpoint
CREATE INDEX "requests_pending" ON "requests" USING btree ("org_id","started_at") WHERE "requests"."pending";