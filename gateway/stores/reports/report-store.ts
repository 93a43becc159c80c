import { deadlinePool } from "#drizzle/deadline-pool.ts";
import type { AnswerRow } from "../../reports/assemble.ts";
import type { Query } from "../../reports/parameters.ts";
import { isAway } from "../store-errors.ts";
import { admitted } from "./admitted.ts";

/** Answers one statement of a report. */
export type AskDatabase = (query: Query) => Promise<readonly AnswerRow[]>;

export type ReportStore = {
  /**
   * Runs the statements of one report within one snapshot.
   * @throws GatewayError store_unavailable if the database is unavailable or too slow; overloaded if too many reports wait.
   */
  snapshot<T>(work: (ask: AskDatabase) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Reports have a few connections of their own: they wait for each other and never delay recording. */
const POOL = {
  name: "reports",
  max: 2,
  statementTimeoutMs: 30_000,
  /** A report that takes longer, waiting included, sits on a dead connection or in too long a queue. */
  deadlineMs: 120_000,
  readOnly: true,
};

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

  async function read<T>(work: (ask: AskDatabase) => Promise<T>): Promise<T> {
    const reading = await query((client) =>
      client.begin("isolation level repeatable read read only", async (sql) => {
        await sql.unsafe(SETTINGS);
        const ask: AskDatabase = async ({ text, params, isLong }) => {
          if (isLong) await sql.unsafe(LONG);
          return await sql.unsafe<AnswerRow[]>(text, params.map(sent));
        };
        return { answer: await work(ask) };
      }),
    );
    return reading.answer;
  }

  return {
    snapshot: admitted(isAway, read),
    close: () => close(5),
  };
}

/** The driver's types want arrays that may be written to. */
const sent = (param: Query["params"][number]) => (typeof param === "string" ? param : [...param]);
