/**
 * `bun test/bench/reports/clickhouse.ts [fewer] [more] [rounds] [specs]`: what each built-in report takes with its comparison
 * over so many records (1,000,000 and 10,000,000) in ClickHouse's engine, by turns, so that a machine that runs slower for a
 * while does so for both; then reports by two dimensions and with filters; then `specs` (40) random legal specs, drawn by SEED
 * (42). Prints medians and 95th percentiles of `rounds` (15), and the engine's processor time for each. Postgres has everything
 * but the records.
 */
import { reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import type { Spec } from "#shared/report.ts";
import { endFile } from "#test/support/at-end.ts";
import { startClickHouse } from "#test/support/clickhouse.ts";
import { copyTables, sumUpByDay } from "#test/support/copy-tables.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { cpuSecondsOf } from "../overhead/measure.ts";
import { BUILT_IN } from "./built-in.ts";
import { NOW } from "./filled.ts";
import { generateWithoutRecords, SIZES } from "./generate.ts";
import { generateIn } from "./generate-clickhouse.ts";
import { percentile, seconds } from "./measure.ts";
import { randomSpecs } from "./random-specs.ts";

/** Of single records. */
const SINGLE: readonly Partial<Spec>[] = [
  { dimensions: ["model", "client"] },
  { dimensions: ["day", "team", "model"] },
  { filters: { client: ["client-0"] } },
  { filters: { team: ["team-1"] } },
  { filters: { subject: ["person-0000@example.com"] }, dimensions: ["day"] },
];

const [fewer = 1_000_000, more = 10_000_000, rounds = 15, specs = 40] = process.argv.slice(2).map(Number);
const database = await testDatabase();
const sql = testSql(database.url);
const sessions = await generateWithoutRecords(sql, NOW);
const server = await startClickHouse();

const places: string[] = [];
for (const records of [fewer, more]) {
  const url = await server.database();
  const taken = await seconds(() => fill(url, records));
  console.log(`${records} records in ${taken.toFixed(0)} s`);
  places.push(url);
}
const runners = places.map((clickhouseUrl) => reportRunner({ url: database.url, clickhouseUrl }));
const cpuMs = () => cpuSecondsOf([server.pid()]) * 1000;
await measured(BUILT_IN);
await measured(
  SINGLE.map((over) => ({
    id: JSON.stringify(over),
    spec: checkSpec({ ...BUILT_IN[1]?.spec, dimensions: ["model"], ...over } as Spec),
  })),
);
await anyLegal();
await Promise.all(runners.map((runner) => runner.close()));
await endFile();
process.exit(0);

async function measured(reports: typeof BUILT_IN): Promise<void> {
  console.log(`report | p50 of ${fewer} | p95 | processor | p50 of ${more} | p95 | processor, in ms`);
  for (const { id, spec } of reports) {
    const ms = runners.map((): number[] => []);
    const cpu = runners.map(() => 0);
    for (let round = 0; round <= rounds; round++) {
      for (const [i, runner] of runners.entries()) {
        const begun = cpuMs();
        const taken = await seconds(async () => await runner.run(spec, NOW));
        // The first one of each fetches what it reads.
        if (round === 0) continue;
        ms[i]?.push(taken * 1000);
        cpu[i] = (cpu[i] ?? 0) + (cpuMs() - begun) / rounds;
      }
    }
    const told = ms.map((all, i) => [percentile(all, 0.5), percentile(all, 0.95), cpu[i] ?? 0]);
    console.log([id, ...told.flat().map((one) => one.toFixed(0))].join(" | "));
  }
}

async function anyLegal(): Promise<void> {
  for (const [i, runner] of runners.entries()) {
    const times: { ms: number; spec: string }[] = [];
    for (const spec of randomSpecs(specs, Number(process.env["SEED"] ?? 42))) {
      const taken = await seconds(async () => await runner.run(checkSpec(spec), NOW));
      times.push({ ms: taken * 1000, spec: JSON.stringify(spec) });
    }
    const of = (p: number) =>
      percentile(
        times.map(({ ms }) => ms),
        p,
      ).toFixed(0);
    console.log(
      `${specs} random specs over ${[fewer, more][i]}: p50 ${of(0.5)}, p95 ${of(0.95)}, max ${of(1)} ms`,
    );
    for (const { ms, spec } of times.toSorted((a, b) => b.ms - a.ms).slice(0, 3)) {
      console.log(`${ms.toFixed(0)} ms: ${spec}`);
    }
  }
}

async function fill(url: string, records: number): Promise<void> {
  const { wrote } = await copyTables(url, sql);
  await wrote("default");
  const client = openClickHouse(url, { name: "bench", timeoutMs: 600_000, connectionsMax: 1 });
  await generateIn(client, sessions, records / SIZES.sessions);
  const begun = cpuSecondsOf([server.pid()]);
  const taken = await seconds(() => sumUpByDay(client, sql));
  const cpu = ((cpuSecondsOf([server.pid()]) - begun) * 1e6) / records;
  console.log(`summed up in ${taken.toFixed(0)} s, ${cpu.toFixed(1)} µs of processor time a call`);
  const bytes = `select table, sum(bytes_on_disk) / ${records} as bytes, sum(rows) as rows from system.parts
    where active and database = currentDatabase() group by table having rows > 1000 order by bytes desc`;
  console.log(await (await client.query({ query: bytes, format: "CSV" })).text());
  await client.close();
}
