/**
 * `bun test/bench/restate.ts [--records 1000000]`: restates a month of records, kills the gateway half-way with SIGKILL, and lets
 * it continue. Prints times, and compares all sums with those that the database computes from the counts alone.
 */
import { parseArgs } from "node:util";
import { connect } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { endFile } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";
import { ownPostgres } from "./reports/own-postgres.ts";

const { values } = parseArgs({ options: { records: { type: "string", default: "1000000" } } });
const RECORDS = Number(values.records);
const MONTH = { from: "2026-10-01", to: "2026-10-31" };

type Job = {
  id: string;
  state: string;
  records: number;
  checked_records: number;
  old_cost_usd: string;
  new_cost_usd: string;
};

const own = await ownPostgres();
await migrate(own.url);
await ensurePartitions(own.url, new Date());
const sql = connect(own.url, { name: "bench", max: 1, statementTimeoutMs: 600_000 });
const gateway = await startGateway({ dataDir: scratch().path, databaseUrl: own.url });
const print = (name: string, value: unknown) => process.stdout.write(`${name}: ${String(value)}\n`);
const sumOf = async () => {
  const [row] = await sql<{ usd: string }[]>`select trim_scale(sum(cost_usd))::text as usd from requests`;
  return row?.usd;
};
try {
  await gateway.admin("POST", "/prices", {
    model: "m",
    effective_from: "2026-10-01",
    input: "3",
    output: "7",
  });
  // The old cost is that of another price: 1 and 2 USD per million.
  for (let at = 0; at < RECORDS; at += 50_000) {
    await sql`
      insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, provider, model, key_id,
        teams, client, tags, usage_source, uncached_input_tokens, input_tokens, output_tokens, cost_usd, token_cost_usd, price,
        unpriced, partial)
      select overlay(gen_random_uuid()::text placing
          regexp_replace(lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0'), '(.{8})', '\\1-') || '-7' from 1 for 15)::uuid,
        t, 'chat.completions', 'api', 'ok', false, 1, '(direct)', 'direct', 'echo', 'm', md5((n % 50)::text)::uuid,
        array['team-' || n % 20], 'bench', '{}', 'provider', n % 3001, n % 3001, n % 701,
        (n % 3001) * 0.000001 + (n % 701) * 0.000002, (n % 3001) * 0.000001 + (n % 701) * 0.000002,
        to_jsonb('list:echo/m'::text), false, false
      from generate_series(${at}::integer, ${Math.min(at + 50_000, RECORDS) - 1}::integer) n,
        lateral (select ${MONTH.from}::timestamptz + n * (interval '31 days' / ${RECORDS}::integer) as t) time`;
  }
  await sql`analyze requests`;
  const [reference] = await sql<{ usd: string }[]>`
    select trim_scale(sum(input_tokens * 0.000003 + output_tokens * 0.000007))::text as usd from requests`;
  const before = await sumOf();
  const beganMs = performance.now();
  const { id } = await gateway.admin<Job>("POST", "/prices/restate", MONTH);
  const job = () => gateway.admin<Job>("GET", `/prices/restate/${id}`);
  const until = async (isIt: (job: Job) => boolean) => {
    for (;;) {
      const now = await job();
      if (isIt(now)) return now;
      await Bun.sleep(500);
    }
  };
  const half = await until(({ records, checked_records: done }) => done >= records / 2);
  print("checked when killed", half.checked_records);
  await gateway.kill();
  await gateway.start();
  const done = await until(({ state }) => state === "done");
  print("seconds", Math.round((performance.now() - beganMs) / 1000));
  const after = await sumOf();
  const [versions] = await sql<{ usd: string; rows: number }[]>`
    select trim_scale(sum(cost_usd))::text as usd, count(*)::integer as rows from record_versions`;
  print("old sum, versions and job", [
    before === versions?.usd,
    before === done.old_cost_usd,
    versions?.rows === RECORDS,
  ]);
  print("new sum, reference and job", [after === reference?.usd, after === done.new_cost_usd]);
} finally {
  await sql.end();
  await gateway.kill();
  await own.stop();
}
await endFile();
process.exit(0);
