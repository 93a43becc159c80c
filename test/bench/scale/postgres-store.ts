import type { OwnPostgres } from "../reports/own-postgres.ts";
import type { Figures } from "./figures.ts";
import { withReportTimes } from "./report-times.ts";

/** Sizes and report times of a filled database. `summedCpuMs` is what Postgres computed to make its sums. */
export async function measurePostgres(
  own: OwnPostgres,
  summedCpuMs: number,
  rounds: number,
): Promise<Figures["postgres"]> {
  const { sql } = own;
  const [sizes] = await sql<{ records: number; bytes: number; sums: number }[]>`
    select (select count(*) from requests)::float8 as records,
      sum(pg_total_relation_size(oid)) filter (where relname like 'requests%')::float8 as bytes,
      sum(pg_total_relation_size(oid)) filter (where relname like 'rollup%')::float8 as sums
    from pg_class where relkind = 'r'`;
  if (!sizes) throw new Error("Postgres told no sizes");
  const { slowestMs, fastestMs } = await withReportTimes({ url: own.url }, rounds, async (times) => times);
  return {
    recordBytes: Math.round(sizes.bytes / sizes.records),
    sumBytes: Math.round(sizes.sums / sizes.records),
    sumCpu: Math.round((summedCpuMs * 1000) / sizes.records),
    slowestMs,
    fastestMs,
  };
}
