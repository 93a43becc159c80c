import type { AnswerRow } from "../../reports/assemble.ts";
import type { Query } from "../../reports/parameters.ts";
import { type Ask, lateLabels } from "../../reports/plan.ts";
import type { People } from "../../reports/rollup/bits.ts";
import type { Survey } from "../../reports/rollup/cover.ts";
import { askBefore, coverageRow, sinceOf } from "../../reports/rollup/coverage.ts";
import { halvesOf, halvesQuery } from "../../reports/rollup/halves.ts";
import { peopleQuery } from "../../reports/rollup/people.ts";
import { planRolled } from "../../reports/rollup/plan.ts";
import { firstsQuery, surveyQuery } from "../../reports/rollup/survey.ts";
import type { Period, Periods } from "../../reports/window.ts";

// What is asked of rollups, statement by statement, before the one that answers.

const EVER: Period = { fromMs: null, toMs: Date.UTC(9999, 0) };
const ALL: Periods = { current: EVER, previous: null };

export type Asking = (query: Query) => PromiseLike<readonly AnswerRow[]>;

/** How far rollups reach, where they are worth asking: single records tell of a small number at once, and exactly. */
export async function surveyed(
  { orgId, spec, periods }: Pick<Ask, "orgId" | "spec" | "periods">,
  rollupsFrom: number,
  ask: Asking,
): Promise<Survey | null> {
  if (spec.source !== "requests" && spec.source !== "outcomes") return null;
  // Sessions of outcomes ran whenever they did.
  const asked = spec.source === "requests" ? periods : ALL;
  const [row] = await ask(surveyQuery(orgId, asked, rollupsFrom));
  if (!row) return null;
  if (row["gone"] !== "true" && Number(row["records"]) < rollupsFrom) return null;
  const numbers = (list: string | null | undefined) => ((list ?? "").match(/-?\d+/g) ?? []).map(Number);
  return {
    rolledToMs: Number(row["rolled_to"]),
    summedToMs: Number(row["summed_to"]),
    weeksToMs: Date.parse(row["weeks_to"] ?? ""),
    rawFromMs: row["raw_from"] ? Number(row["raw_from"]) : null,
    markedMs: numbers(row["marked"]).sort((a, b) => a - b),
    quarteredMs: numbers(row["quartered"]),
    firstsMs: numbers(row["firsts"]),
  };
}

/** The same for labels, which may have been recorded since long before the report's windows. */
export const surveyedLabels = async (asked: Pick<Ask, "orgId" | "spec">, rollupsFrom: number, ask: Asking) =>
  lateLabels(asked.spec).length > 0 ? await surveyed({ ...asked, periods: ALL }, rollupsFrom, ask) : null;

/** Rows and total that one statement tells. */
export async function inOne(query: Query, ask: Asking) {
  const answer = await ask(query);
  const isTotal = (row: AnswerRow) => row["is_total"] === "true";
  return { rows: answer.filter((row) => !isTotal(row)), total: answer.filter(isTotal) };
}

export async function rolledCoverage(
  asked: Ask,
  survey: Survey,
  peopleMax: number,
  ask: Asking,
): Promise<readonly AnswerRow[]> {
  if (lateLabels(asked.spec).length === 0) return [];
  const [firsts] = await ask(firstsQuery(asked.orgId, survey));
  const since = sinceOf(asked, firsts ?? {});
  if (!since) return [];
  const before = await rolled(askBefore(asked, since), survey, peopleMax, ask);
  return [coverageRow(since, (await inOne(before, ask)).total)];
}

/** What rows and total are asked of rollups by, once it is known which groups are shown. */
export async function rolled(asked: Ask, survey: Survey, peopleMax: number, ask: Asking): Promise<Query> {
  const people = await peopleOf(asked, survey, peopleMax, ask);
  const halving = halvesQuery(asked, survey);
  const halves = halving && halvesOf(await ask(halving));
  const { choose, answer } = planRolled(asked, survey, { people, halves });
  const rows = choose && (await ask(choose));
  return answer(rows?.map(({ d1, d2 }) => ({ d1: d1 ?? "", d2: d2 ?? "" })) ?? null);
}

/** The persons that are counted as bits, if these are no more than `peopleMax`. */
async function peopleOf(asked: Ask, survey: Survey, peopleMax: number, ask: Asking): Promise<People> {
  const query = peopleQuery(asked, survey, peopleMax);
  if (query === null) return null;
  const people = (await ask(query)).map(({ person }) => person ?? "");
  return people.length <= peopleMax ? people : null;
}
