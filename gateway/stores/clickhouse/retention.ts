import type { ClickHouseClient } from "@clickhouse/client";
import { onCluster, storedIn } from "./cluster.ts";
import { TIMES } from "./rows.ts";

const DAY_MS = 24 * 3_600_000;

/** By what rows age; those of a month (UTC) go together where Postgres has them by month. */
const AGEING = [
  { name: "requests", time: TIMES.requests, byMonth: true },
  { name: "session_requests", time: "started_at", byMonth: true },
  { name: "tool_calls", time: TIMES.tool_calls, byMonth: false },
  { name: "agent_points", time: TIMES.agent_points, byMonth: false },
];

type Retention = { days: number; cluster: string | null; now: Date };

/**
 * Deletes what Postgres deletes: records of calls in whole months (UTC), once the last day of a month is more than `days`
 * old, and everything else by its own age.
 */
export async function expireCopies(
  client: ClickHouseClient,
  { days, cluster, now }: Retention,
): Promise<void> {
  const before = new Date(now.getTime() - days * DAY_MS);
  const month = new Date(Date.UTC(before.getUTCFullYear(), before.getUTCMonth(), 1));
  for (const { name, time, byMonth } of AGEING) {
    const until = (byMonth ? month : before).toISOString().replace("Z", "").replace("T", " ");
    const aged = `${time} < toDateTime64('${until}', 3, 'UTC')`;
    const [row] = await (
      await client.query({ query: `select 1 from ${name} where ${aged} limit 1`, format: "JSONEachRow" })
    ).json();
    if (row === undefined) continue;
    await client.command({
      query: `delete from ${storedIn(name, cluster)}${onCluster(cluster)} where ${aged}`,
    });
  }
}
