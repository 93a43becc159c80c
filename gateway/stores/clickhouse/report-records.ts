import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import type { AnswerRow } from "../../reports/assemble.ts";
import { CLICKHOUSE } from "../../reports/engines.ts";
import type { Query } from "../../reports/parameters.ts";
import { admitted } from "../reports/admitted.ts";
import type { AskDatabase, ReportStore } from "../reports/report-store.ts";
import { isAway } from "../store-errors.ts";
import { openClickHouse } from "./client.ts";

/** Statements at once; ClickHouse uses all its cores for one. */
const CONNECTIONS_MAX = 4;
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * Errors of ClickHouse that mean: not now, but perhaps later. Too slow, too many statements, no memory, no connection to a
 * shard, tables that are not made yet, a user that is refused.
 */
const AWAY = new Set(["60", "81", "159", "160", "202", "209", "210", "241", "279", "439", "516"]);

/** Reads reports from ClickHouse. Each statement sees what is stored when it begins: there are no snapshots. */
export function openReportRecords(url: string): ReportStore {
  const client = openClickHouse(url, {
    name: "reports",
    timeoutMs: STATEMENT_TIMEOUT_MS,
    connectionsMax: CONNECTIONS_MAX,
  });
  return {
    snapshot: admitted(isUnavailable, (work) => work((query) => ask(client, query))),
    close: () => client.close(),
  };
}

async function ask(client: ClickHouseClient, { text, params }: Query): ReturnType<AskDatabase> {
  const values = Object.fromEntries(params.map((param, i) => [`p${i + 1}`, param]));
  const answer = await client.query({
    query: text,
    query_params: values,
    format: "JSONEachRow",
    clickhouse_settings: { ...CLICKHOUSE.settings, max_execution_time: STATEMENT_TIMEOUT_MS / 1000 },
  });
  return (await answer.json<Record<string, unknown>>()).map(rowOf);
}

/** Every value as text, as Postgres answers. */
const rowOf = (row: Record<string, unknown>): AnswerRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  );

/** The client's own time limit has no code, and neither has an answer that is not ClickHouse's, such as a proxy's 502. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof ClickHouseError
    ? AWAY.has(error.code)
    : isAway(error) || (error instanceof Error && error.name === "Error" && !("code" in error));
