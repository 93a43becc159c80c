/**
 * `bun test/bench/reports/clickhouse.ts [fewer] [more] [rounds] [specs]`: what each built-in report takes with its comparison
 * over so many records (1,000,000 and 10,000,000) in ClickHouse's engine, by turns, so that a machine that runs slower for a
 * while does so for both; then `specs` (40) random legal specs, drawn by SEED (42). Prints medians and 95th percentiles of
 * `rounds` (15), and by how much the medians grow. Postgres has everything but the records.
 */
import { reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { endFile } from "#test/support/at-end.ts";
import { startClickHouse } from "#test/support/clickhouse.ts";
import { copyTables, sumUpAll } from "#test/support/copy-tables.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { BUILT_IN } from "./built-in.ts";
import { NOW } from "./filled.ts";
import { generateWithoutRecords, SIZES } from "./generate.ts";
import { generateIn } from "./generate-clickhouse.ts";
import { percentile, seconds } from "./measure.ts";
import { randomSpecs } from "./random-specs.ts";

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
await builtIn();
await anyLegal();
await Promise.all(runners.map((runner) => runner.close()));
await endFile();
process.exit(0);

async function builtIn(): Promise<void> {
  console.log(`report | p50 of ${fewer} | p95 | p50 of ${more} | p95 | growth`);
  for (const { id, spec } of BUILT_IN) {
    const ms = runners.map((): number[] => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [i, runner] of runners.entries()) {
        const taken = await seconds(async () => await runner.run(spec, NOW));
        // The first one of each fetches what it reads.
        if (round > 0) ms[i]?.push(taken * 1000);
      }
    }
    const told = ms.map((all) => [percentile(all, 0.5), percentile(all, 0.95)]);
    const growth = (told[1]?.[0] ?? 0) / (told[0]?.[0] ?? 0);
    console.log([id, ...told.flat().map((one) => one.toFixed(1)), growth.toFixed(2)].join(" | "));
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
  console.log(
    `summed up in ${(await seconds(() => sumUpAll(client, sql, "default", Infinity))).toFixed(1)} s`,
  );
  await client.close();
}
