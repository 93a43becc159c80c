import { desc, eq, sql } from "drizzle-orm";
import { ours } from "#drizzle/ours.ts";
import { type RepriceKind, repriceDifferences, repriceJobs } from "#drizzle/schema/reprice-jobs.ts";
import { formatDecimal, parseDecimal, plus } from "#shared/decimal.ts";
import type { Reader } from "../stores/change.ts";
import { keyedRows } from "../stores/rows.ts";
import type { Slice } from "../stores/slice.ts";

export type RepriceJobRow = typeof repriceJobs.$inferSelect;

const rows = keyedRows(repriceJobs, "id", true);

/** Newest first. */
export const listJobs = (kind: RepriceKind) => (reader: Reader, slice: Slice) =>
  rows.list(reader, slice, eq(repriceJobs.kind, kind));

export const findJob = (reader: Reader, kind: RepriceKind, id: string): Promise<RepriceJobRow | null> =>
  rows.find(reader, id, eq(repriceJobs.kind, kind));

const DIFFERENCES_MAX = 1000;

/** What a job changes by month, team and model, the greatest differences first; at most 1,000. */
export const differencesOf = (reader: Reader, jobId: string) => {
  const { month, team, model, records, oldCostUsd, newCostUsd } = repriceDifferences;
  const difference = sql<string>`${newCostUsd} - ${oldCostUsd}`;
  return reader
    .select({ month, team, model, records, oldCostUsd, newCostUsd, differenceUsd: difference })
    .from(repriceDifferences)
    .where(ours(repriceDifferences, { jobId }))
    .orderBy(desc(sql`abs(${difference})`), month, team, model)
    .limit(DIFFERENCES_MAX);
};

/** The known cost of the window's records so far, as an exact decimal. */
export const newCostOf = ({ oldCostUsd, addedCostUsd }: RepriceJobRow): string =>
  formatDecimal(plus(parseDecimal(oldCostUsd), parseDecimal(addedCostUsd)));
