-- Reports and the writer of rollups read this table before the others: in another order they and this would wait for each other.
LOCK TABLE "rollup_state" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "rollup_cells" ADD COLUMN "latencies" numeric;--> statement-breakpoint
ALTER TABLE "rollup_days" ADD COLUMN "latencies" numeric;--> statement-breakpoint
ALTER TABLE "rollup_hourly" ADD COLUMN "latencies" numeric;--> statement-breakpoint
ALTER TABLE "rollup_hours" ADD COLUMN "latencies" numeric;--> statement-breakpoint
ALTER TABLE "rollup_quarters" ADD COLUMN "latencies" numeric;--> statement-breakpoint
ALTER TABLE "rollup_sessions" ADD COLUMN "latencies" numeric;--> statement-breakpoint
ALTER TABLE "rollup_state" ADD COLUMN "packed_from" date DEFAULT '9999-12-31' NOT NULL;--> statement-breakpoint
-- What there is has its histograms in columns, until the one writer of rollups has packed it; what begins now has not.
ALTER TABLE "rollup_state" ALTER COLUMN "packed_from" SET DEFAULT '0001-01-01';--> statement-breakpoint
ALTER TABLE "rollup_weeks" ADD COLUMN "latencies" numeric;--> statement-breakpoint
-- An earlier version beside this one must not add rows that nobody would pack: its summing waits with an error.
ALTER TABLE "rollup_hours" ADD CONSTRAINT "rollup_hours_packed" CHECK (latencies is not null or latency_count = 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "rollup_cells" ADD CONSTRAINT "rollup_cells_packed" CHECK (latencies is not null or latency_count = 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "rollup_sessions" ADD CONSTRAINT "rollup_sessions_packed" CHECK (latencies is not null or latency_count = 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "rollup_quarters" ADD CONSTRAINT "rollup_quarters_packed" CHECK (latencies is not null or latency_count = 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "rollup_hourly" ADD CONSTRAINT "rollup_hourly_packed" CHECK (latencies is not null or latency_count = 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "rollup_days" ADD CONSTRAINT "rollup_days_packed" CHECK (latencies is not null or latency_count = 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "rollup_weeks" ADD CONSTRAINT "rollup_weeks_packed" CHECK (latencies is not null or latency_count = 0) NOT VALID;
