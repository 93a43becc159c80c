-- Every table of sums is written once more: without a column for each bucket of latency (0017 left those of rows that were
-- not packed yet), and with columns of fixed width first. Reports and the writer of rollups read this table before the
-- others: in another order they and this would wait for each other.
LOCK TABLE "rollup_state" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "rollup_hours_new" (
	"hour" timestamptz(3) NOT NULL,
	"day" date NOT NULL,
	"cell" integer NOT NULL,
	"key_id" uuid NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"tags" text[] COLLATE "C" NOT NULL,
	"model" text COLLATE "C",
	"route" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric
);--> statement-breakpoint
INSERT INTO "rollup_hours_new" (hour, day, cell, key_id, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, model, route, cost_usd, token_cost_usd, latencies)
SELECT hour, day, cell, key_id, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, model, route, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end
FROM "rollup_hours";--> statement-breakpoint
DROP TABLE "rollup_hours";--> statement-breakpoint
ALTER TABLE "rollup_hours_new" RENAME TO "rollup_hours";--> statement-breakpoint
ALTER TABLE "rollup_hours" ADD CONSTRAINT "rollup_hours_org_id_hour_cell_pk" PRIMARY KEY("org_id","hour","cell");--> statement-breakpoint
CREATE INDEX "rollup_hours_session" ON "rollup_hours" USING btree ("org_id","session") WHERE "rollup_hours"."session" is not null;--> statement-breakpoint
ANALYZE "rollup_hours";--> statement-breakpoint
CREATE TABLE "rollup_cells_new" (
	"day" date NOT NULL,
	"cell" integer NOT NULL,
	"hours" integer NOT NULL,
	"key_id" uuid NOT NULL,
	"of_model" integer NOT NULL,
	"of_route" integer NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"tags" text[] COLLATE "C" NOT NULL,
	"model" text COLLATE "C",
	"route" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric
);--> statement-breakpoint
INSERT INTO "rollup_cells_new" (day, cell, hours, key_id, of_model, of_route, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, model, route, cost_usd, token_cost_usd, latencies)
SELECT day, cell, hours, key_id, of_model, of_route, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, model, route, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end
FROM "rollup_cells" WHERE of_model IS NOT NULL AND of_route IS NOT NULL;--> statement-breakpoint
-- Versions before 0019 did not tell which sessions count with which cells.
INSERT INTO "rollup_cells_new" (day, cell, hours, key_id, of_model, of_route, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, model, route, cost_usd, token_cost_usd, latencies)
SELECT day, cell, hours, key_id, case when row_number() over of_model = 1 then bit_or(hours) over (of_model rows between unbounded preceding and unbounded following) else 0 end, case when row_number() over of_route = 1 then bit_or(hours) over (of_route rows between unbounded preceding and unbounded following) else 0 end, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, model, route, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end
FROM "rollup_cells" WHERE of_model IS NULL OR of_route IS NULL
WINDOW of_model as (partition by org_id, day, channel, client, owner, user_label, key_id, session, tags, model), of_route as (partition by org_id, day, channel, client, owner, user_label, key_id, session, tags, route);--> statement-breakpoint
DROP TABLE "rollup_cells";--> statement-breakpoint
ALTER TABLE "rollup_cells_new" RENAME TO "rollup_cells";--> statement-breakpoint
ALTER TABLE "rollup_cells" ADD CONSTRAINT "rollup_cells_org_id_day_cell_pk" PRIMARY KEY("org_id","day","cell");--> statement-breakpoint
CREATE INDEX "rollup_cells_session" ON "rollup_cells" USING btree ("org_id","session") WHERE "rollup_cells"."session" is not null;--> statement-breakpoint
ANALYZE "rollup_cells";--> statement-breakpoint
CREATE TABLE "rollup_sessions_new" (
	"day" date NOT NULL,
	"cell" integer NOT NULL,
	"hours" integer NOT NULL,
	"key_id" uuid NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"client" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"user_label" text COLLATE "C",
	"session" text COLLATE "C",
	"tags" text[] COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric
);--> statement-breakpoint
INSERT INTO "rollup_sessions_new" (day, cell, hours, key_id, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, cost_usd, token_cost_usd, latencies)
SELECT day, cell, hours, key_id, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, channel, client, owner, user_label, session, tags, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end
FROM "rollup_sessions";--> statement-breakpoint
DROP TABLE "rollup_sessions";--> statement-breakpoint
ALTER TABLE "rollup_sessions_new" RENAME TO "rollup_sessions";--> statement-breakpoint
ALTER TABLE "rollup_sessions" ADD CONSTRAINT "rollup_sessions_org_id_day_cell_pk" PRIMARY KEY("org_id","day","cell");--> statement-breakpoint
CREATE INDEX "rollup_sessions_session" ON "rollup_sessions" USING btree ("org_id","session") WHERE "rollup_sessions"."session" is not null;--> statement-breakpoint
ANALYZE "rollup_sessions";--> statement-breakpoint
CREATE TABLE "rollup_hourly_new" (
	"hour" timestamptz(3) NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"active_hours" integer NOT NULL,
	"billed_hours" integer NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric,
	"session_cost_usd" numeric,
	"first_session_at" timestamptz(3),
	"first_tag_at" timestamptz(3)
);--> statement-breakpoint
INSERT INTO "rollup_hourly_new" (hour, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, active_hours, billed_hours, org_id, kind, value, channel, cost_usd, token_cost_usd, latencies, session_cost_usd, first_session_at, first_tag_at)
SELECT hour, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, active_hours, billed_hours, org_id, kind, value, channel, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end, session_cost_usd, first_session_at, first_tag_at
FROM "rollup_hourly";--> statement-breakpoint
DROP TABLE "rollup_hourly";--> statement-breakpoint
ALTER TABLE "rollup_hourly_new" RENAME TO "rollup_hourly";--> statement-breakpoint
ALTER TABLE "rollup_hourly" ADD CONSTRAINT "rollup_hourly_org_id_kind_hour_value_channel_pk" PRIMARY KEY("org_id","kind","hour","value","channel");--> statement-breakpoint
ANALYZE "rollup_hourly";--> statement-breakpoint
CREATE TABLE "rollup_quarters_new" (
	"at" timestamptz(3) NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric,
	"session_cost_usd" numeric
);--> statement-breakpoint
INSERT INTO "rollup_quarters_new" (at, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, kind, value, channel, cost_usd, token_cost_usd, latencies, session_cost_usd)
SELECT at, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, org_id, kind, value, channel, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end, session_cost_usd
FROM "rollup_quarters";--> statement-breakpoint
DROP TABLE "rollup_quarters";--> statement-breakpoint
ALTER TABLE "rollup_quarters_new" RENAME TO "rollup_quarters";--> statement-breakpoint
ALTER TABLE "rollup_quarters" ADD CONSTRAINT "rollup_quarters_org_id_kind_at_value_channel_pk" PRIMARY KEY("org_id","kind","at","value","channel");--> statement-breakpoint
ANALYZE "rollup_quarters";--> statement-breakpoint
CREATE TABLE "rollup_days_new" (
	"day" date NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"active_hours" integer NOT NULL,
	"billed_hours" integer NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric,
	"session_cost_usd" numeric,
	"first_session_at" timestamptz(3),
	"first_tag_at" timestamptz(3)
);--> statement-breakpoint
INSERT INTO "rollup_days_new" (day, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, active_hours, billed_hours, org_id, kind, value, channel, cost_usd, token_cost_usd, latencies, session_cost_usd, first_session_at, first_tag_at)
SELECT day, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, active_hours, billed_hours, org_id, kind, value, channel, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end, session_cost_usd, first_session_at, first_tag_at
FROM "rollup_days";--> statement-breakpoint
DROP TABLE "rollup_days";--> statement-breakpoint
ALTER TABLE "rollup_days_new" RENAME TO "rollup_days";--> statement-breakpoint
ALTER TABLE "rollup_days" ADD CONSTRAINT "rollup_days_org_id_kind_day_value_channel_pk" PRIMARY KEY("org_id","kind","day","value","channel");--> statement-breakpoint
ANALYZE "rollup_days";--> statement-breakpoint
CREATE TABLE "rollup_weeks_new" (
	"week" date NOT NULL,
	"records" integer NOT NULL,
	"unpriced" integer NOT NULL,
	"uncertain" integer NOT NULL,
	"latency_count" integer NOT NULL,
	"ttft_count" integer NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"priced_input_tokens" bigint NOT NULL,
	"priced_output_tokens" bigint NOT NULL,
	"latency_sum" bigint NOT NULL,
	"ttft_sum" bigint NOT NULL,
	"first_at" timestamptz(3) NOT NULL,
	"active_hours" integer NOT NULL,
	"billed_hours" integer NOT NULL,
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"channel" text COLLATE "C" NOT NULL,
	"cost_usd" numeric,
	"token_cost_usd" numeric,
	"latencies" numeric,
	"session_cost_usd" numeric,
	"first_session_at" timestamptz(3),
	"first_tag_at" timestamptz(3)
);--> statement-breakpoint
INSERT INTO "rollup_weeks_new" (week, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, active_hours, billed_hours, org_id, kind, value, channel, cost_usd, token_cost_usd, latencies, session_cost_usd, first_session_at, first_tag_at)
SELECT week, records, unpriced, uncertain, latency_count, ttft_count, input_tokens, output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, active_hours, billed_hours, org_id, kind, value, channel, cost_usd, token_cost_usd, case when latencies is null and latency_count > 0 then (
    select sum(n * ('1e-' || 12 * bucket)::numeric) from unnest(array[h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23, h24, h25, h26, h27, h28, h29, h30, h31, h32, h33, h34, h35, h36, h37, h38, h39, h40, h41, h42, h43, h44, h45, h46, h47, h48, h49, h50, h51, h52, h53, h54, h55, h56, h57, h58, h59, h60, h61, h62, h63, h64, h65, h66, h67, h68, h69, h70, h71, h72, h73, h74, h75]) with ordinality b(n, bucket) where n > 0
  ) else latencies end, session_cost_usd, first_session_at, first_tag_at
FROM "rollup_weeks";--> statement-breakpoint
DROP TABLE "rollup_weeks";--> statement-breakpoint
ALTER TABLE "rollup_weeks_new" RENAME TO "rollup_weeks";--> statement-breakpoint
ALTER TABLE "rollup_weeks" ADD CONSTRAINT "rollup_weeks_org_id_kind_week_value_channel_pk" PRIMARY KEY("org_id","kind","week","value","channel");--> statement-breakpoint
ANALYZE "rollup_weeks";--> statement-breakpoint
ALTER TABLE "rollup_state" DROP COLUMN "packed_from";
