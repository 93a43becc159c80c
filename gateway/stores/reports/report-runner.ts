import { connect, within } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Result, Spec } from "#shared/report.ts";
import { GatewayError } from "../../errors.ts";
import { type AnswerRow, type Answers, assemble } from "../../reports/assemble.ts";
import type { Query } from "../../reports/parameters.ts";
import { type Ask, planReport } from "../../reports/plan.ts";
import { planTogether } from "../../reports/plan-together.ts";
import { type Revert, revertedBy, revertsQuery } from "../../reports/reverts.ts";
import { PEOPLE_MAX } from "../../reports/rollup/bits.ts";
import type { Survey } from "../../reports/rollup/cover.ts";
import { type Periods, periodsOf } from "../../reports/window.ts";
import { isAway } from "../store-errors.ts";
import { type Asking, inOne, rolled, rolledCoverage, surveyed, surveyedLabels } from "./ask-rollups.ts";

/** Answers checked specs. What it reads from, raw records or sums of them, is its own affair. */
export type ReportRunner = {
  /**
   * The result of a checked spec (reports/spec.ts), with `now` as the end of ranges that have none.
   * @throws GatewayError invalid_request for a range that cannot be; store_unavailable when Postgres is away or a query
   * takes longer than 30 s; overloaded when too many reports wait already.
   */
  run(spec: Spec, now: Date): Promise<Result>;
  close(): Promise<void>;
};

/** Reports have connections of their own, and few: they wait for each other, and never hold up recording. */
const CONNECTIONS_MAX = 2;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Reports running and waiting at once; more than any page asks for. */
const RUNS_MAX = 200;
/** A report that takes longer, waiting included, sits on a dead connection or in too long a queue. */
const DEADLINE_MS = 120_000;

/** Under so many records single ones are read: it takes no longer, and the 95th percentile is exact. */
const ROLLUPS_FROM = 20_000;
type Options = {
  url: string;
  orgId?: string;
  /** Records in a report's windows from which rollups are read; infinite: never but where single records are gone. */
  rollupsFrom?: number;
  /** Up to so many persons are counted as bits, and more by name. */
  peopleMax?: number;
};

/** Opens its connections when first needed, all of them read-only. */
export function reportRunner({
  url,
  orgId = DEFAULT_ORG,
  rollupsFrom = ROLLUPS_FROM,
  peopleMax = PEOPLE_MAX,
}: Options): ReportRunner {
  const open = () =>
    connect(url, {
      name: "reports",
      max: CONNECTIONS_MAX,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      readOnly: true,
    });
  let client = open();
  let runs = 0;

  /** Reads within one snapshot, so that rows and total cannot disagree. */
  async function snapshot(work: (ask: Asking) => Promise<Answers>): Promise<Answers> {
    const used = client;
    try {
      const reading = used.begin("isolation level repeatable read read only", async (sql) => {
        await sql.unsafe(BEFORE_READING);
        return await work(async ({ text, params, alone, long }) => {
          if (alone || long) await sql.unsafe(alone ? ALONE : TOGETHER);
          return await sql.unsafe<AnswerRow[]>(text, params.map(sent));
        });
      });
      return await within(DEADLINE_MS, reading);
    } catch (error) {
      if (isDeadline(error) && used === client) {
        client = open();
        void used.end({ timeout: 0 }).catch(() => undefined);
      }
      throw error;
    }
  }

  async function answers(spec: Spec, periods: Periods): Promise<Answers> {
    if (runs >= RUNS_MAX) throw new GatewayError("overloaded");
    runs++;
    try {
      return await snapshot(async (ask) => {
        const reverted = needsReverts(spec) ? revertedBy((await ask(revertsQuery(orgId))).map(revertOf)) : [];
        const survey = await surveyed({ orgId, spec, periods }, rollupsFrom, ask);
        const labels = survey ?? (await surveyedLabels({ orgId, spec }, rollupsFrom, ask));
        return await answersOf({ orgId, spec, periods, reverted, survey }, labels, peopleMax, ask);
      });
    } catch (error) {
      throw isAway(error) ? new GatewayError("store_unavailable", undefined, error) : error;
    } finally {
      runs--;
    }
  }

  return {
    run: async (spec, now) => {
      const periods = periodsOf(spec.range, spec.compare, now);
      return assemble(spec, periods, await answers(spec, periods));
    },
    close: () => client.end({ timeout: 5 }),
  };
}

/**
 * Before the snapshot, so that no month can be dropped between what rollups say of it and what is read of it. Sorts and
 * hashes of millions of cells stay in memory, within bounds. Cells are joined with groups, and grouped, by hash alone: the
 * server cannot know how many groups there are, and would sort far too much. Most reports take less than further processes
 * would take to begin. Sums are few and mostly in memory.
 */
const BEFORE_READING = `lock table requests in access share mode; set local work_mem = '64MB'; set local jit = off;
  set local enable_mergejoin = off; set local enable_nestloop = off; set local enable_sort = off;
  set local parallel_setup_cost = 30000; set local random_page_cost = 1.1`;

/** The server takes a stretch of single records for much longer than it is, and would begin further processes for it. */
const ALONE = "set local max_parallel_workers_per_gather = 0";
/** One that sums up for itself pays from fewer cells than the server thinks; of several each waits for the others' cores. */
const TOGETHER = `set local max_parallel_workers_per_gather = 1; set local parallel_setup_cost = 3000;
  set local parallel_tuple_cost = 0.01`;

async function answersOf(
  asked: Ask,
  labels: Survey | null,
  peopleMax: number,
  ask: Asking,
): Promise<Answers> {
  const { survey } = asked;
  const requests = asked.spec.source === "requests";
  const single = planReport(asked);
  const together = requests
    ? survey && (await rolled(asked, survey, peopleMax, ask))
    : isTogether(asked) && planTogether(asked);
  const answer = together
    ? await inOne(together, ask)
    : { rows: await askIf(single.rows, ask), total: await ask(single.total) };
  return {
    ...answer,
    coverage:
      requests && labels
        ? await rolledCoverage(asked, labels, peopleMax, ask)
        : await askIf(single.coverage, ask),
  };
}

/** A record of several tags is in several groups, but once in all; the sessions of few outcomes are looked up one by one. */
const isTogether = ({ spec, survey }: Ask): boolean =>
  !spec.dimensions.includes("tag") && (spec.source !== "outcomes" || survey !== null);

const askIf = async (query: Query | null, ask: Asking) => (query ? await ask(query) : []);

const needsReverts = ({ measures }: Spec): boolean =>
  measures.some((measure) => measure === "reverted_prs" || measure === "revert_rate");

const revertOf = (row: AnswerRow): Revert => ({
  reverter: row["reverter"] ?? "",
  original: row["original"] ?? "",
});

/** The driver's types want arrays that may be written to. */
const sent = (param: Query["params"][number]) => (typeof param === "string" ? param : [...param]);

const isDeadline = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "DEADLINE";
