import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { insertRows } from "#gateway/stores/clickhouse/insert.ts";
import { createTables } from "#gateway/stores/clickhouse/schema.ts";
import { startClickHouse } from "#test/support/clickhouse.ts";
import { copyTables, sumUpByDay } from "#test/support/copy-tables.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { cpuSecondsOf } from "../overhead/measure.ts";
import { NOW } from "../reports/filled.ts";
import { generateWithoutRecords, SIZES } from "../reports/generate.ts";
import { generateIn } from "../reports/generate-clickhouse.ts";
import type { Figures } from "./figures.ts";
import { withReportTimes } from "./report-times.ts";

const INSERTED = 200_000;
/** As many rows as are copied at a time when many wait. */
const BATCH = 10_000;

/**
 * The same in ClickHouse's engine, as chDB carries it, in a process of its own, beside a Postgres that has everything but
 * the records.
 */
export async function measureClickHouse({
  records,
  rounds,
}: {
  records: number;
  rounds: number;
}): Promise<Figures["clickhouse"]> {
  const database = await testDatabase();
  const sql = testSql(database.url);
  const sessions = await generateWithoutRecords(sql, NOW);
  const server = await startClickHouse();
  const cpuSeconds = () => cpuSecondsOf([server.pid()]);
  const url = await server.database();
  const { wrote } = await copyTables(url, sql);
  await wrote("default");
  const client = openClickHouse(url, { name: "bench", timeoutMs: 600_000, connectionsMax: 1 });
  await generateIn(client, sessions, records / SIZES.sessions);
  const unsummed = cpuSeconds();
  await sumUpByDay(client, sql);
  const sumCpu = ((cpuSeconds() - unsummed) * 1e6) / records;
  const [size] = await (
    await client.query({
      query: `select sumIf(bytes_on_disk, table = 'requests') / sumIf(rows, table = 'requests') as bytes,
        sumIf(bytes_on_disk, table <> 'requests') / sumIf(rows, table = 'requests') as sums from system.parts
        where active and database = currentDatabase() and table in ('requests', 'cells', 'sums')`,
      format: "JSONEachRow",
    })
  ).json<{ bytes: number; sums: number }>();

  const lines = (
    await (
      await client.query({ query: `select * from requests limit ${INSERTED}`, format: "JSONEachRow" })
    ).text()
  )
    .trim()
    .split("\n");
  const other = openClickHouse(await server.database(), {
    name: "bench",
    timeoutMs: 60_000,
    connectionsMax: 1,
  });
  for (const query of createTables()) await other.command({ query });
  const idle = cpuSeconds();
  for (let at = 0; at < lines.length; at += BATCH) {
    const batch = { name: "requests", lines: lines.slice(at, at + BATCH), token: `bench-${at}` } as const;
    await insertRows(other, batch, async (_, code) => {
      throw new Error(`ClickHouse refused a row: ${code}`);
    });
  }
  const insertCpu = cpuSeconds() - idle;
  await Promise.all([client.close(), other.close()]);

  const figures = await withReportTimes({ url: database.url, clickhouseUrl: url }, rounds, async (times) => {
    const begun = cpuSeconds();
    for (let round = 0; round < rounds; round++) await times.runSlowest();
    const cpu = (cpuSeconds() - begun) / rounds;
    return { ...times, cpu };
  });
  return {
    records,
    recordBytes: Math.round(size?.bytes ?? Number.NaN),
    sumBytes: Math.round(size?.sums ?? Number.NaN),
    sumCpu: round(sumCpu),
    insertCpuPerMillion: round((insertCpu * 1e6) / lines.length),
    reportCpuPerMillion: round((figures.cpu * 1e6) / records),
    slowestMs: figures.slowestMs,
    fastestMs: figures.fastestMs,
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;
