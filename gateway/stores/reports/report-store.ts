import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import { deadlinePool } from "#drizzle/deadline-pool.ts";
import { GatewayError } from "../../errors.ts";
import type { AnswerRow } from "../../reports/assemble.ts";
import { CLICKHOUSE } from "../../reports/engines.ts";
import { type Query, sent } from "../../reports/parameters.ts";
import type { AskDatabase } from "../../reports/reach.ts";
import { openClickHouse } from "../clickhouse/client.ts";
import { identityOf, WHOLE } from "../clickhouse/identity.ts";
import { isAway } from "../store-errors.ts";

export type ReportStore = {
  /** Runs a report's statements; Postgres's in one snapshot. @throws GatewayError store_unavailable: away or too slow. */
  snapshot<T>(work: (ask: AskDatabase) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

const STATEMENT_TIMEOUT_MS = 30_000;
const PAGE_ROWS = 1000;
/** Reports have a few connections of their own: they wait for each other and never delay recording. */
const POOL = {
  name: "reports",
  max: 2,
  statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  /** A report that takes longer, waiting included, sits on a dead connection or in too long a queue. */
  deadlineMs: 120_000,
  readOnly: true,
};
/** Statements of ClickHouse at once; it uses all its cores for one. */
const CLICKHOUSE_CONNECTIONS_MAX = 4;

/**
 * Before the snapshot, so that no month can be dropped between what rollups say of it and what is read of it. Sorts and
 * hashes of millions of cells stay in memory, within bounds. Cells are joined with groups, and grouped, by hash alone: the
 * server cannot know how many groups there are, and would sort far too much. Most reports take less time than a second
 * process needs to start.
 */
const SETTINGS = `lock table requests in access share mode; set local work_mem = '64MB'; set local jit = off;
  set local enable_mergejoin = off; set local enable_nestloop = off; set local enable_sort = off;
  set local max_parallel_workers_per_gather = 0; set local random_page_cost = 1.1`;
const LONG = `set local max_parallel_workers_per_gather = 1; set local parallel_setup_cost = 3000;
  set local parallel_tuple_cost = 0.01`;

/** Opens its connections when first needed, all of them read-only. */
export function openReportStore(url: string): ReportStore {
  const { query, close } = deadlinePool(url, POOL);
  return {
    async snapshot(work) {
      try {
        const reading = await query((client) =>
          client.begin("isolation level repeatable read read only", async (sql) => {
            await sql.unsafe(SETTINGS);
            const ask: AskDatabase = async (asked) => {
              if (asked.isLong) await sql.unsafe(LONG);
              return await sql.unsafe<AnswerRow[]>(asked.text, sent(asked));
            };
            ask.pages = (asked) => sql.unsafe<AnswerRow[]>(asked.text, sent(asked)).cursor(PAGE_ROWS);
            return { answer: await work(ask) };
          }),
        );
        return reading.answer;
      } catch (error) {
        throw isAway(error) ? new GatewayError("store_unavailable", undefined, error) : error;
      }
    },
    close: () => close(5),
  };
}

export type ReportRecords = ReportStore & {
  /** Whether it has every row of Postgres, but for those that are marked. @throws GatewayError as `snapshot` does */
  isWhole(postgres: ReportStore): Promise<boolean>;
};

/** Reads reports from ClickHouse. Each statement sees what is stored when it begins: there are no snapshots. */
export function openReportRecords(url: string): ReportRecords {
  const client = openClickHouse(url, {
    name: "reports",
    timeoutMs: STATEMENT_TIMEOUT_MS,
    connectionsMax: CLICKHOUSE_CONNECTIONS_MAX,
  });
  const snapshot: ReportStore["snapshot"] = async (work) => {
    try {
      const ask: AskDatabase = async (query) =>
        (await (await asked(client, query)).json<Record<string, unknown>>()).map(rowOf);
      ask.pages = async function* (query) {
        for await (const rows of (await asked(client, query)).stream<Record<string, unknown>>())
          yield rows.map((row) => rowOf(row.json()));
      };
      return await work(ask);
    } catch (error) {
      throw isUnavailable(error) ? new GatewayError("store_unavailable", undefined, error) : error;
    }
  };
  return {
    snapshot,
    async isWhole(postgres) {
      const [known] = await postgres.snapshot((ask) => ask({ text: WHOLE, params: [] }));
      return known !== undefined && known["id"] === (await snapshot(() => identityOf(client)));
    },
    close: () => client.close(),
  };
}

const asked = (client: ClickHouseClient, { text, params }: Query) =>
  client.query({
    query: text,
    query_params: Object.fromEntries(params.map((param, i) => [`p${i + 1}`, param])),
    format: "JSONEachRow",
    clickhouse_settings: { ...CLICKHOUSE.settings, max_execution_time: STATEMENT_TIMEOUT_MS / 1000 },
  });

/** Every value as text, as Postgres answers. */
const rowOf = (row: Record<string, unknown>): AnswerRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  );

/** ClickHouse's errors that may pass: too slow or busy, no memory, shard or tables, a refused user. */
const AWAY = new Set(["60", "81", "159", "160", "202", "209", "210", "241", "279", "439", "516"]);

/** The client's own time limit has no code, and neither has an answer that is not ClickHouse's, such as a proxy's 502. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof ClickHouseError
    ? AWAY.has(error.code)
    : isAway(error) || (error instanceof Error && error.name === "Error" && !("code" in error));
