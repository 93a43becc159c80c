import type { ClickHouseClient } from "@clickhouse/client";
import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { LEVELS, type Summed } from "../../reports/buckets/columns.ts";
import { askClickHouse } from "./client.ts";
import { nextVersion } from "./marks.ts";
import { instantIn } from "./rows.ts";
import { publishSums, SUMMED_SOURCES, voidHours } from "./sum-up.ts";

type Stores = { sql: postgres.Sql; client: ClickHouseClient };

/** The hours of a source that have a row written after they were summed up; of tools' calls, also those that lost or miss one. */
function staleHours(source: Summed): string {
  const { hour } = LEVELS[source];
  const published = `from summed final where org_id = '${DEFAULT_ORG}' and level = '${hour}'`;
  // An earlier release deletes calls of tools unseen.
  const isCounted = source === "tool_calls";
  const counted = `union all select at, toUInt64(0), toUInt64(0), false, -sum(records) from sums
    where org_id = '${DEFAULT_ORG}' and kind = 'tools' and level = '${hour}' and (at, gen) in (select at, gen ${published} and ready) group by at`;
  return `select toUnixTimestamp(at) as second from (
    select toStartOfHour(started_at, 'UTC') as at, max(version) as written, toUInt64(0) as gen, false as open,
      toInt64(${isCounted ? "count()" : "0"}) as n
    from ${source}${isCounted ? " final" : ""} where org_id = '${DEFAULT_ORG}' group by at
    union all select at, toUInt64(0), gen, not ready, toInt64(0) ${published}
    ${isCounted ? counted : ""}
  ) group by at having not max(open) and (max(written) > max(gen) or sum(n) <> 0)`;
}

/** Days since then that an earlier release summed up, without cells. */
const daysWithoutCells = (since: Date): string =>
  `select distinct toUnixTimestamp(at) as second from sums
    where org_id = '${DEFAULT_ORG}' and level = '${LEVELS.requests.day}' and at >= ${instantIn(since)}
      and (at, gen) in (select at, gen from summed final where level = '${LEVELS.requests.day}' and ready)
      and (at, gen) not in (select at, gen from cells)`;

const seconds = async (client: ClickHouseClient, query: string): Promise<number[]> =>
  (await askClickHouse<{ second: number }>(client, query)).map(({ second }) => second);

/**
 * Has every hour summed up again whose sums lack what ClickHouse has: an earlier release, whose gateways may run beside this
 * one, writes rows without voiding sums that it does not know. From then on, reports read sums.
 */
export async function checkPublishedSums({ sql, client }: Stores): Promise<void> {
  for (const source of SUMMED_SOURCES) {
    const hours = (await seconds(client, staleHours(source))).map((second) => second * 1000);
    await sql.begin(async (tx) => {
      // At 0, another process has started over and marks all rows.
      const [begun] = await tx<{ dropped: Date | null }[]>`
        select (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}) as dropped
        from clickhouse_state where org_id = ${DEFAULT_ORG} and version > 0 for update`;
      if (!begun) return;
      const version = await nextVersion(tx);
      await voidHours(client, { source, hours, version });
      const { all, day } = LEVELS[source];
      const since = source === "requests" ? (begun.dropped ?? new Date(0)) : null;
      const days = since ? await seconds(client, daysWithoutCells(since)) : [];
      await publishSums(client, DEFAULT_ORG, [
        ...days.map((second) => ({ level: day, atMs: second * 1000, gen: version, ready: false })),
        { level: all, atMs: 0, gen: version, ready: true },
      ]);
    });
  }
}

/** Whether that was done since this release came to the database. */
export async function isChecked(client: ClickHouseClient): Promise<boolean> {
  const levels = SUMMED_SOURCES.map((source) => `'${LEVELS[source].all}'`);
  const query = `select distinct level from summed where org_id = '${DEFAULT_ORG}' and level in (${levels})`;
  return (await askClickHouse(client, query)).length === SUMMED_SOURCES.length;
}
