import { and, desc, eq, lt, sql } from "drizzle-orm";
import { type RepriceKind, repriceDifferences, repriceJobs } from "#drizzle/schema/reprice-jobs.ts";
import { formatDecimal, parseDecimal, plus } from "#shared/decimal.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "../stores/change.ts";
import type { Slice } from "../stores/slice.ts";

export type RepriceJobRow = typeof repriceJobs.$inferSelect;

const ofKind = (kind: RepriceKind) => and(eq(repriceJobs.orgId, DEFAULT_ORG), eq(repriceJobs.kind, kind));

/** Newest first. */
export const listJobs =
  (kind: RepriceKind) =>
  (reader: Reader, { after, limit }: Slice): Promise<RepriceJobRow[]> =>
    reader
      .select()
      .from(repriceJobs)
      .where(and(ofKind(kind), after === null ? undefined : lt(repriceJobs.id, after)))
      .orderBy(desc(repriceJobs.id))
      .limit(limit);

export async function findJob(reader: Reader, kind: RepriceKind, id: string): Promise<RepriceJobRow | null> {
  const [row] = await reader
    .select()
    .from(repriceJobs)
    .where(and(ofKind(kind), eq(repriceJobs.id, id)));
  return row ?? null;
}

const DIFFERENCES_MAX = 1000;

/** What a job changes by month, team and model, the greatest differences first; at most 1,000. */
export const differencesOf = (reader: Reader, jobId: string) => {
  const { month, team, model, records, oldCostUsd, newCostUsd } = repriceDifferences;
  const difference = sql<string>`${newCostUsd} - ${oldCostUsd}`;
  return reader
    .select({ month, team, model, records, oldCostUsd, newCostUsd, differenceUsd: difference })
    .from(repriceDifferences)
    .where(and(eq(repriceDifferences.orgId, DEFAULT_ORG), eq(repriceDifferences.jobId, jobId)))
    .orderBy(desc(sql`abs(${difference})`), month, team, model)
    .limit(DIFFERENCES_MAX);
};

/** The known cost of the window's records so far, as an exact decimal. */
export const newCostOf = ({ oldCostUsd, addedCostUsd }: RepriceJobRow): string =>
  formatDecimal(plus(parseDecimal(oldCostUsd), parseDecimal(addedCostUsd)));
