/**
 * `bun test/bench/reports/run.ts [records] [runs] [specs]`: fills a Postgres of its own with that many records
 * (1,000,000), rolls them up, and prints how long each built-in report takes with its comparison, `runs` times (40; of 15
 * the 95th percentile is the worst) from rollups and once from single records, with the processor time that Postgres
 * took; the same reports of one team, and of a division with half of the teams, as managers ask for them; and the slowest of `specs` (40) random legal specs, drawn by SEED (42). `RAW=0` leaves single records out.
 * `KEEP=directory` keeps the database there, and takes it up again.
 */

import { reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import type { Result, Spec } from "#shared/report.ts";
import { BUILT_IN } from "./built-in.ts";
import { filled, NOW } from "./filled.ts";
import { mebibytes, percentile, seconds } from "./measure.ts";
import { randomSpecs } from "./random-specs.ts";

const [records = 1_000_000, runs = 40, specs = 40] = process.argv.slice(2).map(Number);
const seed = Number(process.env["SEED"] ?? 42);

const { url, sql, cpuMs, stop } = await filled(records, process.env["KEEP"]);
const rolled = reportRunner({ url });
const single = reportRunner({ url, rollupsFrom: Number.POSITIVE_INFINITY });
try {
  await printSizes();
  const memory = process.memoryUsage.rss();
  await builtIn();
  await ofTeams();
  await anyLegal();
  console.log(`memory of this process: +${mebibytes(process.memoryUsage.rss() - memory)} MiB`);
} finally {
  await Promise.all([rolled.close(), single.close()]);
  await stop();
}

async function printSizes(): Promise<void> {
  const [row] = await sql`
    select (select count(*) from requests) as records, (select count(*) from rollup_hours) as hours,
      (select count(*) from rollup_sessions) as sessions,
      (select count(*) from rollup_sums) as sums,
      (select count(*) from rollup_people) as people`;
  const tables = await sql<{ name: string; bytes: string }[]>`
    select coalesce(i.inhparent::regclass::text, c.relname) as name, sum(pg_total_relation_size(c.oid))::text as bytes
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    where c.relkind = 'r' and (c.relname like 'requests%' or c.relname like 'rollup%') group by 1 order by 2 desc`;
  console.log(`rows: ${JSON.stringify(row)}`);
  console.log(`MiB: ${tables.map(({ name, bytes }) => `${name} ${mebibytes(Number(bytes))}`).join(", ")}`);
}

async function builtIn(): Promise<void> {
  console.log("\nreport | rollups p50 | p95 | CPU ms | single records ms | CPU ms | rows that differ");
  for (const { id, spec } of BUILT_IN) {
    await rolled.run(spec, NOW);
    const many = await measured(() => rolled.run(spec, NOW), runs);
    const once =
      process.env["RAW"] === "0"
        ? null
        : await measured(() => single.run(spec, NOW), 1).catch((cause: unknown) => String(cause));
    const known = once !== null && typeof once !== "string" ? once : null;
    const [a, b] = [many.results[0], known?.results[0]];
    const raw = known
      ? `${Math.max(...known.ms).toFixed(0)} | ${known.cpuMs.toFixed(0)}`
      : `${String(once ?? "-")} | -`;
    const [p50, p95] = [percentile(many.ms, 0.5).toFixed(1), percentile(many.ms, 0.95).toFixed(1)];
    console.log(
      `${id} | ${p50} | ${p95} | ${many.cpuMs.toFixed(0)} | ${raw} | ${a && b ? differences(a, b) : "-"}`,
    );
  }
}

async function ofTeams(): Promise<void> {
  console.log("\nreport | all p50 | CPU ms | a team p50 | CPU ms | half of the teams p50 | CPU ms");
  for (const { id, spec } of BUILT_IN.filter(({ spec: { source } }) => source === "requests")) {
    const figures: string[] = [];
    for (const filters of [{}, { team: ["team-7"] }, { team: ["division-0"] }]) {
      const asked = { ...spec, filters: { ...spec.filters, ...filters } };
      await rolled.run(asked, NOW);
      const { ms, cpuMs: took } = await measured(() => rolled.run(asked, NOW), runs);
      figures.push(percentile(ms, 0.5).toFixed(1), took.toFixed(0));
    }
    console.log([id, ...figures].join(" | "));
  }
}

async function anyLegal(): Promise<void> {
  const times: { ms: number; cpuMs: number; spec: Spec }[] = [];
  for (const spec of randomSpecs(specs, seed)) {
    const one = await measured(() => rolled.run(checkSpec(spec), NOW), 1);
    times.push({ ms: Math.max(...one.ms), cpuMs: one.cpuMs, spec });
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
  for (const one of times.slice(0, 5)) {
    console.log(`${one.ms.toFixed(0)} ms, CPU ${one.cpuMs.toFixed(0)} ms: ${JSON.stringify(one.spec)}`);
  }
}

/** Wall time of each run, and processor time of Postgres for one on average. */
async function measured(work: () => Promise<Result>, times: number) {
  const results: Result[] = [];
  const before = cpuMs();
  const ms: number[] = [];
  for (let i = 0; i < times; i++) ms.push((await seconds(async () => results.push(await work()))) * 1000);
  return { ms, results, cpuMs: (cpuMs() - before) / times };
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
