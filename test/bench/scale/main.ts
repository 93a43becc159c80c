/**
 * `bun test/bench/scale/main.ts [--records 1000000] [--seconds 10] [--rounds 15] [--keep DIRECTORY] [--write]`: what each
 * part costs here: a call in CPU of gateway and Postgres, a merge, a record in bytes and in CPU of its sums, the built-in
 * reports. Takes about twenty minutes, most of them for the sums; `--keep` keeps that database and takes it up again.
 * `--write` puts the figures into figures.json, and the tables computed from them into gateway/deploy/SIZING.md. Needs
 * `nginx`, `wrk` and chDB, and a machine that does nothing else.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endFile } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { filled } from "../reports/filled.ts";
import { measureCalls } from "./calls.ts";
import { measureClickHouse } from "./clickhouse-store.ts";
import type { Figures } from "./figures.ts";
import { measureMerges } from "./merges.ts";
import { tablesOf, withTables } from "./page.ts";
import { measurePostgres } from "./postgres-store.ts";

const { values } = parseArgs({
  options: {
    records: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "15" },
    keep: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
const [records, seconds, rounds] = [values.records, values.seconds, values.rounds].map(Number) as [
  number,
  number,
  number,
];

const calls = await measureCalls(scratch().path, seconds);
const own = await filled(records, values.keep);
let figures: Figures;
try {
  const summedCpuMs = await summedIn(own.directory, own.summedCpuMs);
  const postgres = await measurePostgres(own, summedCpuMs, rounds);
  console.log(`Postgres: ${JSON.stringify(postgres)}`);
  const merge = await measureMerges(own);
  console.log(`a merge: ${JSON.stringify(merge)}`);
  const clickhouse = await measureClickHouse({ records, rounds });
  console.log(`ClickHouse: ${JSON.stringify(clickhouse)}`);
  const measuredOn = new Date().toISOString().slice(0, 10);
  figures = { measuredOn, cores: availableParallelism(), records, calls, merge, postgres, clickhouse };
} finally {
  await own.stop();
}
console.log(tablesOf(figures));
if (values.write) {
  await Bun.write(join(import.meta.dir, "figures.json"), `${JSON.stringify(figures, null, 2)}\n`);
  const page = Bun.file(join(import.meta.dir, "../../../gateway/deploy/SIZING.md"));
  await Bun.write(page, withTables(await page.text(), figures));
}
await endFile();
process.exit(0);

/** What the sums took when they were made, noted beside a database that is kept. */
async function summedIn(directory: string, cpuMs: number | null): Promise<number> {
  const note = Bun.file(join(directory, "summed-cpu-ms"));
  if (cpuMs !== null) await Bun.write(note, String(cpuMs));
  return Number(await note.text());
}
