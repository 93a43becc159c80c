import type { Result, Spec } from "#shared/report.ts";
import { type AnswerRow, assemble, isTotal } from "./assemble.ts";
import { budgetsFor } from "./budgets.ts";
import type { Ask } from "./context.ts";
import { planReport } from "./plan.ts";
import { type Databases, knownIn, recordsOf } from "./reach.ts";
import { needsReverts, revertedOf, revertsQuery } from "./reverts.ts";
import { periodsOf } from "./window.ts";

type Reading = Pick<Ask, "orgId" | "byOwner" | "timeZone" | "asOfMs" | "allRows" | "scope"> & {
  rollupsFrom: number;
};

/** What a report asks of the records. */
export async function askOf<One extends Pick<Ask, "spec" | "periods">>(
  databases: Databases,
  { orgId, rollupsFrom, byOwner, timeZone, asOfMs, allRows, scope }: Reading,
  one: One,
): Promise<Ask> {
  // Facts: single records where these are few, or columns of them are read; else sums of them as far as they reach.
  const known = await knownIn(databases, { orgId, timeZone, asOfMs, ...one }, rollupsFrom);
  const reverted = needsReverts(one.spec) ? revertedOf(await databases.postgres(revertsQuery(orgId))) : [];
  return { orgId, byOwner, timeZone, asOfMs, allRows, scope, reverted, ...one, ...known };
}

/** All rows leave as a file: no more of them are held than those of a page. */
export async function pagesIn(
  databases: Databases,
  reading: Reading,
  { spec, now, take }: { spec: Spec; now: Date; take(page: Result): void },
): Promise<void> {
  const periods = periodsOf(spec.range, spec.compare, { ...reading, now });
  const ask = await askOf(databases, reading, { spec, periods });
  const [budgets] = await budgetsFor(databases.postgres, [{ spec, periods }], { ...reading, now });
  const records = recordsOf(databases, ask);
  const query = planReport(ask);
  const page = (rows: readonly AnswerRow[]) =>
    take(assemble(spec, periods, { rows, coverage: null, payers: null, ceiling: false, budgets }));
  // The total comes first.
  let total: readonly AnswerRow[] | null = null;
  for await (const rows of records.pages?.(query) ?? [await records(query)]) {
    total ??= rows.filter(isTotal);
    page([...total, ...rows.filter((row) => !isTotal(row))]);
  }
  if (total === null) page([]);
}
