import { connect, within } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Result, Spec } from "#shared/report.ts";
import { GatewayError } from "../errors.ts";
import { type AnswerRow, type Answers, assemble } from "../reports/assemble.ts";
import { type Plan, planReport, type Query } from "../reports/plan.ts";
import { type Revert, revertedBy, revertsQuery } from "../reports/reverts.ts";
import { type Periods, periodsOf } from "../reports/window.ts";
import { isAway } from "./failure.ts";

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

/** Opens its connections when first needed, all of them read-only. */
export function reportRunner({ url, orgId = DEFAULT_ORG }: { url: string; orgId?: string }): ReportRunner {
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
      const reading = used.begin("isolation level repeatable read read only", (sql) =>
        work(({ text, params }) => sql.unsafe<AnswerRow[]>(text, params.map(sent))),
      );
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
        return await answersOf(planReport({ orgId, spec, periods, reverted }), ask);
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

type Asking = (query: Query) => PromiseLike<readonly AnswerRow[]>;

async function answersOf(plan: Plan, ask: Asking): Promise<Answers> {
  return {
    rows: plan.rows ? await ask(plan.rows) : [],
    total: await ask(plan.total),
    coverage: plan.coverage ? await ask(plan.coverage) : [],
  };
}

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
