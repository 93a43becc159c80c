/**
 * `bun test/bench/reports/run.ts [records] [runs] [specs]`: fills a Postgres of its own with that many records
 * (1,000,000), rolls them up, and prints how long each built-in report takes with its comparison, `runs` times (40; of 15
 * the 95th percentile is the worst) from rollups and once from single records, with the processor time that Postgres
 * took, and the slowest of `specs` (40) random legal specs. `RAW=0` leaves single records out. `KEEP=directory` keeps the
 * database there, and takes it up again.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import { startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import { agentEstimateSpec, subscriptionSpec } from "#gateway/reports/request.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { reportRunner } from "#gateway/stores/reports/report-runner.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { systemClock } from "#shared/clock.ts";
import { createLog } from "#shared/log.ts";
import type { Result, Spec } from "#shared/report.ts";
import { generate } from "./generate.ts";
import { randomSpecs } from "./random-specs.ts";

const [records = 1_000_000, runs = 40, specs = 40] = process.argv.slice(2).map(Number);
/** Mid-day, so that every window has an edge within an hour. */
const NOW = new Date("2026-11-18T15:37:12.345Z");

const isLinux = process.platform === "linux";
const kept = process.env["KEEP"];
const directory = kept ?? mkdtempSync(join(tmpdir(), "rollups-bench-"));
mkdirSync(directory, { recursive: true });
// Started as root, Postgres runs as another user.
chmodSync(directory, 0o755);
const filled = join(directory, "filled");
const summed = join(directory, "summed");
const database = await startEmbedded({
  dataDirectory: join(directory, "data"),
  systemRoot: join(directory, "system"),
  log: createLog("bench", "error"),
  clock: systemClock,
  progress: () => undefined,
});
const sql = connect(database.url, { name: "bench", max: 1, statementTimeoutMs: 0 });
const rolled = reportRunner({ url: database.url });
const single = reportRunner({ url: database.url, rollupsFrom: Number.POSITIVE_INFINITY });
try {
  await migrate(database.url);
  if (!existsSync(filled)) await fill();
  if (existsSync(summed)) await sumUpNew();
  else await rollUp();
  await printSizes();
  const memory = process.memoryUsage.rss();
  await builtIn();
  await anyLegal();
  console.log(`memory of this process: +${mebibytes(process.memoryUsage.rss() - memory)} MiB`);
} finally {
  await Promise.all([rolled.close(), single.close(), sql.end()]);
  await database.stop();
  if (kept === undefined) rmSync(directory, { recursive: true });
}

async function fill(): Promise<void> {
  const made = await seconds(() => generate(sql, records, NOW));
  writeFileSync(filled, "");
  console.log(`filled in ${made.toFixed(0)} s`);
}

async function rollUp(): Promise<void> {
  const rollups = openRollups({ url: database.url });
  const before = isLinux ? cpuOfPostgres() : 0;
  const taken = await seconds(async () => await rollups.rebuild(NOW));
  const cpu = isLinux
    ? `, of which Postgres computed ${((cpuOfPostgres() - before) / 1000).toFixed(0)} s`
    : "";
  await rollups.close();
  await sql.unsafe("vacuum analyze");
  writeFileSync(summed, "");
  console.log(`rolled up in ${taken.toFixed(0)} s${cpu}`);
}

/** What an update of the tables has left to be made, in a database that was taken up again. */
async function sumUpNew(): Promise<void> {
  const rollups = openRollups({ url: database.url });
  const taken = await seconds(async () => await rollups.catchUp(NOW));
  await rollups.close();
  if (taken < 1) return;
  await sql.unsafe("vacuum analyze");
  console.log(`summed up what is new in ${taken.toFixed(0)} s`);
}

async function printSizes(): Promise<void> {
  const [row] = await sql`
    select (select count(*) from requests) as records, (select count(*) from rollup_hours) as hours,
      (select count(*) from rollup_cells) as cells, (select count(*) from rollup_sessions) as sessions,
      (select count(*) from rollup_hourly) as hourly, (select count(*) from rollup_days) as days,
      (select count(*) from rollup_gaps) as gaps,
      (select count(*) from rollup_seen) as seen`;
  const tables = await sql<{ name: string; bytes: string }[]>`
    select coalesce(i.inhparent::regclass::text, c.relname) as name, sum(pg_total_relation_size(c.oid))::text as bytes
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    where c.relkind = 'r' and (c.relname like 'requests%' or c.relname like 'rollup%') group by 1 order by 2 desc`;
  console.log(`rows: ${JSON.stringify(row)}`);
  console.log(`MiB: ${tables.map(({ name, bytes }) => `${name} ${mebibytes(Number(bytes))}`).join(", ")}`);
}

async function builtIn(): Promise<void> {
  const frame = { range: "30d", compare: "previous_period" } as const;
  const reports = [
    ...CATALOGUE.map(({ id, spec }) => ({ id, spec: { ...spec, ...frame, filters: {} } })),
    { id: "(subscription)", spec: subscriptionSpec(frame) },
    { id: "(agent estimate)", spec: agentEstimateSpec(frame) },
  ];
  console.log("\nreport | rollups p50 | p95 | CPU ms | single records ms | CPU ms | rows that differ");
  for (const { id, spec } of reports) {
    const checked = checkSpec(spec);
    await rolled.run(checked, NOW);
    const many = await measured(() => rolled.run(checked, NOW), runs);
    const once =
      process.env["RAW"] === "0" ? null : await measured(() => single.run(checked, NOW), 1).catch(() => null);
    const [a, b] = [many.results[0], once?.results[0]];
    const raw = once ? `${Math.max(...once.ms).toFixed(0)} | ${once.cpuMs.toFixed(0)}` : "- | -";
    const [p50, p95] = [percentile(many.ms, 0.5).toFixed(1), percentile(many.ms, 0.95).toFixed(1)];
    console.log(
      `${id} | ${p50} | ${p95} | ${many.cpuMs.toFixed(0)} | ${raw} | ${a && b ? differences(a, b) : "-"}`,
    );
  }
}

async function anyLegal(): Promise<void> {
  const times: { ms: number; cpuMs: number; spec: Spec }[] = [];
  for (const spec of randomSpecs(specs)) {
    const { ms, cpuMs } = await measured(() => rolled.run(checkSpec(spec), NOW), 1);
    times.push({ ms: Math.max(...ms), cpuMs, spec });
  }
  times.sort((a, b) => b.cpuMs - a.cpuMs);
  const told = (of: "ms" | "cpuMs") =>
    [0.5, 0.95, 1]
      .map((p) =>
        percentile(
          times.map((time) => time[of]),
          p,
        ).toFixed(0),
      )
      .join(", ");
  const slow = times.filter(({ ms }) => ms > 2000).length;
  console.log(
    `\n${specs} random legal specs, p50, p95, max: ${told("ms")} ms, CPU ${told("cpuMs")} ms, ${slow} over 2 s; the slowest:`,
  );
  for (const { ms, cpuMs, spec } of times.slice(0, 5)) {
    console.log(`${ms.toFixed(0)} ms, CPU ${cpuMs.toFixed(0)} ms: ${JSON.stringify(spec)}`);
  }
}

/** What Postgres and all its processes, those that ended too, have taken of the processor so far (Linux), in milliseconds. */
function cpuOfPostgres(): number {
  const ticks = (pid: string) => {
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    return rest.split(" ").slice(11, 15).map(Number);
  };
  const [pid = ""] = readFileSync(join(database.data, "postmaster.pid"), "utf8").split("\n");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const all = [pid, ...children].flatMap((one) => {
    try {
      return ticks(one);
    } catch {
      return [];
    }
  });
  return all.reduce((sum, tick) => sum + tick, 0) * 10;
}

/** Wall time of each run, and processor time of Postgres for one on average. */
async function measured(work: () => Promise<Result>, times: number) {
  const results: Result[] = [];
  const before = isLinux ? cpuOfPostgres() : 0;
  const ms = await timesOf(async () => results.push(await work()), times);
  const after = isLinux ? cpuOfPostgres() : 0;
  return { ms, results, cpuMs: (after - before) / times };
}

/** Rows and figures that differ, but for the 95th percentile, which rollups know within its bucket. */
function differences(a: Result, b: Result): number {
  const text = (result: Result) =>
    [...result.rows, result.total].map((row) =>
      JSON.stringify(row, (name, value) => (name === "latency_p95_ms" ? undefined : value)),
    );
  const [left, right] = [text(a), text(b)];
  return left.filter((row, i) => row !== right[i]).length + Math.abs(left.length - right.length);
}

async function timesOf(work: () => Promise<unknown>, times: number): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) taken.push((await seconds(work)) * 1000);
  return taken;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? 0;
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
