import { asc, gt, sql } from "drizzle-orm";
import type { Runner, Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { statements } from "#drizzle/schema/history.ts";
import { rollupState } from "#drizzle/schema/rollups.ts";
import { STATEMENT_BY, type StatementBy, type StatementContent } from "#shared/admin/statements.ts";
import { formatDecimal, parseDecimal } from "#shared/decimal.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { LIST_COST } from "../reports/savings.ts";
import type { Origin } from "./audit.ts";
import type { Reader } from "./change.ts";
import { monthSpan } from "./periods.ts";
import { CHARGED_TO } from "./requests.ts";

type Line = Record<"name" | "input_tokens" | "output_tokens" | "cost_usd", string> &
  Record<"requests" | "people" | "unpriced_requests", number> &
  Record<"list_cost_usd" | "savings_usd", string | null> & { floor: boolean; is_total: boolean };

const BILLED = "q.channel <> 'subscription'";
const LIST = `sum(${LIST_COST}) filter (where ${BILLED})`;

/** The chargeback of a month, from the records as they are: the dearest first. */
export async function chargesOf(reader: Runner, month: string, by: StatementBy): Promise<StatementContent> {
  const { from, to } = monthSpan(month);
  const name = sql.raw(CHARGED_TO[by]);
  const rows = await reader.execute<Line>(sql`
    select coalesce(${name}, '') as name, grouping(${name}) = 1 as is_total, count(*)::int as requests,
      count(distinct coalesce(q.user_label, q.owner))::int as people,
      coalesce(sum(q.input_tokens), 0)::text as input_tokens, coalesce(sum(q.output_tokens), 0)::text as output_tokens,
      coalesce(sum(q.cost_usd) filter (where ${sql.raw(BILLED)}), 0)::text as cost_usd, ${sql.raw(LIST)}::text as list_cost_usd,
      (sum((${sql.raw(LIST_COST)}) - q.cost_usd) filter (where ${sql.raw(BILLED)}))::text as savings_usd,
      (count(*) filter (where ${sql.raw(BILLED)} and q.unpriced))::int as unpriced_requests,
      coalesce(bool_or(q.unpriced or q.partial or q.cost_usd is null) filter (where ${sql.raw(BILLED)}), false) as floor
    from requests q where q.org_id = ${DEFAULT_ORG} and q.started_at >= ${from} and q.started_at < ${to}
    group by grouping sets ((${name}), ())
    order by is_total, coalesce(sum(q.cost_usd) filter (where ${sql.raw(BILLED)}), 0) desc, 1`);
  const exact = (usd: string | null) => usd && formatDecimal(parseDecimal(usd));
  const lines = [...rows].map(({ is_total, cost_usd, list_cost_usd, savings_usd, ...line }) => ({
    ...line,
    cost_usd: exact(cost_usd) ?? "0",
    list_cost_usd: exact(list_cost_usd),
    savings_usd: exact(savings_usd),
  }));
  // Sorted to the end; it is there without records, too.
  const total = lines.pop();
  if (!total) throw new Error("A statement has no total.");
  return { lines, total };
}

/** Keeps the statements of a month that is closed, as its next version; none once some of its records are no longer kept. */
export async function keepStatements(tx: Transaction, month: string, { actor, at }: Origin): Promise<void> {
  const isDropped = ours(rollupState, {}, gt(rollupState.rawFrom, monthSpan(month).from));
  if (await first(tx.select().from(rollupState).where(isDropped))) return;
  const kept = await keptStatements(tx, month, STATEMENT_BY[0]);
  const version = (kept.at(-1)?.version ?? 0) + 1;
  for (const by of STATEMENT_BY) {
    const content = await chargesOf(tx, month, by);
    await tx.insert(statements).values({ month, by, version, closedAt: at.toISOString(), actor, content });
  }
}

/** What each closing of a month kept, the first one first. */
export const keptStatements = (reader: Reader, month: string, by: StatementBy) =>
  reader.select().from(statements).where(ours(statements, { month, by })).orderBy(asc(statements.version));
