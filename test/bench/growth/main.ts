// Two years of a small organisation, month by month: its calls, sums, retention and everything else that grows.
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { expireAll } from "#drizzle/expire.ts";
import { migrate } from "#drizzle/migrate.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { retainDays } from "#drizzle/retention.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { ownPostgres } from "../reports/own-postgres.ts";
import { type Growth, type Month, withGrowth } from "./growth.ts";
import { liveDay } from "./month.ts";

const DAY_MS = 86_400_000;
const callsPerHour = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 100);
const retentionDays = DEFAULT_SETTINGS.retention_days;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The database's clock, for the product's own statements: an unqualified `now()` finds this one first. */
async function simulateClock(sql: postgres.Sql): Promise<void> {
  const [own] = await sql<{ name: string }[]>`select current_database() as name`;
  await sql.unsafe("create table simulated as select pg_catalog.now() as at");
  await sql.unsafe(
    "create function now() returns timestamptz stable language sql as 'select at from simulated'",
  );
  await sql.unsafe(`alter database ${own?.name} set search_path = public, pg_catalog`);
}

const SIZES = `
select coalesce(sum(size) filter (where name ~ '^(requests|tool_calls)'), 0)::float8 as records,
  coalesce(sum(size) filter (where name ~ '^(rollup_|key_spend|session_stretches)'), 0)::float8 as sums,
  coalesce(sum(size) filter (where name ~ '^(pull_request|github_feedback|session_(links|agents)|reviews)'), 0)::float8 as merges,
  sum(size)::float8 as whole,
  (select count(*)::float8 from requests) as kept
from (
  select relname as name, pg_total_relation_size(oid) / 1e6 as size from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r'
) tables`;

async function liveMonth(url: string, month: number): Promise<Month> {
  const from = Date.UTC(2025, month - 1, 1);
  const to = Date.UTC(2025, month, 1);
  const sql = connect(url, { name: "life", max: 1, statementTimeoutMs: 0 });
  await sql`update simulated set at = ${new Date(to).toISOString()}`;
  await ensurePartitions(url, new Date(from));
  for (let ms = from; ms < to; ms += DAY_MS) await liveDay(sql, dayOf(ms), callsPerHour * 24);
  const rollups = openRollups({ url });
  await rollups.catchUp(new Date(to + 3_600_000));
  await rollups.close();
  await retainDays(url, { days: retentionDays, actor: "retention_days", confirmed: false });
  await expireAll(sql, () => undefined);
  await sql`vacuum`;
  const [size] = await sql.unsafe<(Omit<Month, "month" | "others"> & { whole: number })[]>(SIZES);
  await sql.end();
  if (!size) throw new RangeError("a select without a table has one row");
  const { whole, ...known } = size;
  const others = whole - known.records - known.sums - known.merges;
  const rounded = Object.entries({ ...known, others }).map(([name, value]) => [
    name,
    Math.round(value * 10) / 10,
  ]);
  // The names are those that were asked for.
  return { month, ...Object.fromEntries(rounded) } as Month;
}

const own = await ownPostgres();
await migrate(own.url);
await simulateClock(own.sql);
const months: Month[] = [];
for (let month = 1; month <= 24; month++) {
  const lived = await liveMonth(own.url, month);
  months.push(lived);
  process.stdout.write(`${JSON.stringify(lived)}\n`);
}
await own.stop();
const growth: Growth = { measuredOn: dayOf(Date.now()), callsPerHour, retentionDays, months };
if (process.argv.includes("--write")) {
  const page = join(import.meta.dir, "../../../gateway/deploy/SIZING.md");
  await Bun.write(join(import.meta.dir, "growth.json"), `${JSON.stringify(growth, null, 2)}\n`);
  await Bun.write(page, withGrowth(await Bun.file(page).text(), growth));
}
