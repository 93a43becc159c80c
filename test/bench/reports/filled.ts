import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "#drizzle/migrate.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { generate } from "./generate.ts";
import { seconds } from "./measure.ts";
import { type OwnPostgres, ownPostgres } from "./own-postgres.ts";

/** Mid-day, so that every window has an edge within an hour. */
export const NOW = new Date("2026-11-18T15:37:12.345Z");

export type Filled = OwnPostgres & {
  /** What Postgres computed to make all sums, in milliseconds; null if they were there already, 0 but on Linux. */
  summedCpuMs: number | null;
};

/** A Postgres of its own with so many records, rolled up; `kept` is a directory that keeps it and is taken up again. */
export async function filled(records: number, kept?: string): Promise<Filled> {
  const own = await ownPostgres(kept);
  try {
    const updated = await seconds(async () => await migrate(own.url));
    if (updated > 2) console.log(`updated the tables in ${updated.toFixed(0)} s`);
    const [isFilled, isSummed] = [join(own.directory, "filled"), join(own.directory, "summed")];
    if (!existsSync(isFilled)) {
      const made = await seconds(async () => await generate(own.sql, records, NOW));
      writeFileSync(isFilled, "");
      console.log(`filled in ${made.toFixed(0)} s`);
    }
    const wasSummed = existsSync(isSummed);
    const cpuMs = await sumUp(own, wasSummed);
    writeFileSync(isSummed, "");
    return { ...own, summedCpuMs: wasSummed ? null : cpuMs };
  } catch (error) {
    await own.stop();
    throw error;
  }
}

/** All, or what an update of the tables has left to be made in a database that was taken up again. */
async function sumUp({ url, sql, cpuMs }: OwnPostgres, isSummed: boolean): Promise<number> {
  const rollups = openRollups({ url });
  const before = cpuMs();
  const taken = await seconds(async () => await (isSummed ? rollups.catchUp(NOW) : rollups.rebuild(NOW)));
  const cpu = cpuMs() - before;
  await rollups.close();
  if (isSummed && taken < 1) return cpu;
  await sql.unsafe("vacuum analyze");
  console.log(`rolled up in ${taken.toFixed(0)} s, of which Postgres computed ${(cpu / 1000).toFixed(0)} s`);
  return cpu;
}
