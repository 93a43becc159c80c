/**
 * `bun test/bench/reports/growth.ts [fewer] [more] [rounds]`: what each built-in report takes with its comparison over so
 * many records (1,000,000 and 10,000,000), each in a Postgres of its own, by turns, so that a machine that runs slower for
 * a while does so for both. Prints medians and 95th percentiles of `rounds` (40), and by how much the medians grow.
 * `KEEP=directory` keeps the databases there, in a directory for each size, and takes them up again.
 */
import { join } from "node:path";
import { reportRunner } from "#gateway/reporting.ts";
import { BUILT_IN } from "./built-in.ts";
import { type Filled, filled, NOW } from "./filled.ts";
import { percentile, seconds } from "./measure.ts";

const [fewer = 1_000_000, more = 10_000_000, rounds = 40] = process.argv.slice(2).map(Number);
const kept = process.env["KEEP"];

const open: Filled[] = [];
try {
  for (const records of [fewer, more]) {
    open.push(await filled(records, kept === undefined ? undefined : join(kept, String(records))));
  }
  const runners = open.map(({ url }) => reportRunner({ url }));
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
  await Promise.all(runners.map((runner) => runner.close()));
} finally {
  for (const { stop } of open) await stop();
}
