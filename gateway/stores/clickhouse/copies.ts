import type postgres from "postgres";
import { Gauge, type Registry } from "prom-client";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { asker } from "../asker.ts";
import { openClickHouse } from "./client.ts";
import { WHOLE } from "./identity.ts";

export type Copies = ReturnType<typeof openCopies>;

const REACH_DEADLINE_MS = 500;
const CAUGHT_UP_MAX_MS = 1000;
const LOOK_EVERY_MS = 50;

/** What the gateway asks about the copies in ClickHouse. */
export function openCopies(url: string, { sql, metrics }: { sql: postgres.Sql; metrics: Registry }) {
  const client = openClickHouse(url, { name: "health", timeoutMs: REACH_DEADLINE_MS, connectionsMax: 1 });
  const waiting = new Gauge({
    name: "tallygate_clickhouse_waiting_rows",
    help: "Rows of Postgres that are not yet in ClickHouse, counted every five seconds.",
    aggregator: "max",
    registers: [metrics],
  });
  const ping = asker(() => client.ping({ select: true }));
  const whole = asker(() => sql<{ id: string }[]>`${sql.unsafe(WHOLE)}`);
  return {
    /**
     * Whether ClickHouse answers its user now, within 500 ms; and, if it does not, whether reports need it: until it has every
     * row, they read Postgres. Never rejects.
     */
    async contact(): Promise<"reachable" | "away" | "needed"> {
      if ((await ping())?.success === true) return "reachable";
      return (await whole())?.length === 0 ? "away" : "needed";
    },
    /** Waits up to a second until ClickHouse has what Postgres has, if it is read; false: not so. Never rejects. */
    caughtUp: (): Promise<boolean> => untilCopied(sql).catch(() => false),
    /** Says how many rows are not copied yet; the process that copies does so. */
    noteWaiting: (rows: number): void => waiting.set(rows),
    close: (): Promise<void> => client.close(),
  };
}

async function untilCopied(sql: postgres.Sql): Promise<boolean> {
  const [asked] = await sql<{ at: string; whole: boolean; refused: boolean }[]>`
    select clock_timestamp()::text as at,
      exists (select from clickhouse_state where org_id = ${DEFAULT_ORG} and compared_at is not null) as whole,
      exists (select from dead_records where org_id = ${DEFAULT_ORG} and code like 'clickhouse %') as refused`;
  if (!asked?.whole) return true;
  for (let waitedMs = 0; waitedMs < CAUGHT_UP_MAX_MS; waitedMs += LOOK_EVERY_MS) {
    const [mark] = await sql`
      select 1 from clickhouse_marks
      where org_id = ${DEFAULT_ORG} and marked_at <= ${asked.at}::text::timestamptz limit 1`;
    if (mark === undefined) return !asked.refused;
    await Bun.sleep(LOOK_EVERY_MS);
  }
  return false;
}
