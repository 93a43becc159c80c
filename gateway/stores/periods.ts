import { asc, isNotNull, sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { periods } from "#drizzle/schema/history.ts";
import { sessionCalls } from "#drizzle/session-cost.ts";
import type { Origin } from "./audit.ts";
import type { Reader } from "./change.ts";

export type PeriodRow = typeof periods.$inferSelect;

/** The first instant of a month such as `2026-10` (UTC), and that of the next one. */
export function monthSpan(month: string): { from: string; to: string } {
  const from = new Date(`${month}-01T00:00:00Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  return { from: from.toISOString(), to: to.toISOString() };
}

/** The closed months that overlap a window, and whether it has no day outside them. */
export async function closedMonthsIn(
  reader: Reader,
  { from, to }: { from: string; to: string },
): Promise<{ months: string[]; isAll: boolean }> {
  const rows = await reader
    .select({ month: periods.month })
    .from(periods)
    .where(ours(periods, {}, isNotNull(periods.closedAt)))
    .orderBy(asc(periods.month));
  const spans = rows
    .map(({ month }) => ({ month, ...monthSpan(month) }))
    .filter((span) => span.from < to && span.to > from);
  const open = spans.reduce((at, span) => (span.from <= at ? span.to : at), from);
  return { months: spans.map(({ month }) => month), isAll: open >= to };
}

const LOCK = sql`hashtext('periods')`;

/** Keeps months from being closed until the transaction ends. */
export const holdPeriods = (tx: Transaction) => tx.execute(sql`select pg_advisory_xact_lock_shared(${LOCK})`);

/** The period of a month; null: it was never closed. It waits for changes of costs under way, which wait for it then. */
export async function lockPeriod(tx: Transaction, month: string): Promise<PeriodRow | null> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`);
  return findPeriod(tx, month);
}

export const findPeriod = (reader: Reader, month: string): Promise<PeriodRow | null> =>
  first(reader.select().from(periods).where(ours(periods, { month })));

/** Closes a month with what its records cost now. */
export async function closePeriod(tx: Transaction, month: string, { actor, at }: Origin): Promise<PeriodRow> {
  const { from, to } = monthSpan(month);
  const [sums] = await tx.execute<{ records: number; costUsd: string }>(sql`
    select coalesce(sum(records), 0)::integer as records,
      coalesce(sum(cost_usd) filter (where billed), 0)::text as "costUsd"
    from ${sessionCalls} it where at >= ${from}::timestamptz and at < ${to}::timestamptz`);
  const closed = {
    closedAt: at.toISOString(),
    actor,
    changedAt: at.toISOString(),
    records: sums?.records ?? 0,
    costUsd: sums?.costUsd ?? "0",
    lateRecords: 0,
    lateCostUsd: "0",
  };
  const [row] = await tx
    .insert(periods)
    .values({ month, ...closed })
    .onConflictDoUpdate({ target: [periods.orgId, periods.month], set: closed })
    .returning();
  if (!row) throw new Error("The month was not stored.");
  return row;
}

/** Opens a month again. */
export async function reopenPeriod(
  tx: Transaction,
  month: string,
  { actor, at }: Origin,
): Promise<PeriodRow> {
  const [row] = await tx
    .update(periods)
    .set({ closedAt: null, actor, changedAt: at.toISOString() })
    .where(ours(periods, { month }))
    .returning();
  if (!row) throw new Error("The month was not stored.");
  return row;
}

/** Months that were closed once, the latest first. */
export const listPeriods = (reader: Reader): Promise<PeriodRow[]> =>
  reader.select().from(periods).where(ours(periods)).orderBy(sql`${periods.month} desc`);
