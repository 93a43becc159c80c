import { getTableColumns, sql } from "drizzle-orm";
import type { Db } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { type RequestRow, requests } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { quarterSql } from "../reports/rollup/kinds.ts";
import { withStoreErrors } from "./store-errors.ts";

const { id, startedAt, provider, model, keptId } = getTableColumns(requests);
/** What settling a record needs of it. */
export const PENDING_COLUMNS = { id, startedAt, provider, model, keptId };

/** The record of a response that its provider still makes, or made since. */
export type PendingResponse = Pick<typeof requests.$inferSelect, keyof typeof PENDING_COLUMNS>;

/** Responses whose end is not recorded; of more than `limit`, some. */
export const listPending = ({ db }: Db, limit: number): Promise<PendingResponse[]> =>
  withStoreErrors(() =>
    db
      .select(PENDING_COLUMNS)
      .from(requests)
      .where(ours(requests, {}, requests.pending))
      // None may keep others from being asked about.
      .orderBy(sql`random()`)
      .limit(limit),
  );

/** Completes a record that is pending still, once; its hour is marked for rollups. */
export const settlePending = (
  { db }: Db,
  record: PendingResponse,
  outcome: Partial<RequestRow>,
): Promise<void> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      const settled = await tx
        .update(requests)
        .set({ ...outcome, pending: null })
        .where(ours(requests, { id: record.id, startedAt: record.startedAt }, requests.pending))
        .returning({ id: requests.id });
      if (settled.length === 0) return;
      const hour = sql.raw(quarterSql(`'${new Date(record.startedAt).toISOString()}'::timestamptz`));
      await tx.execute(sql`insert into rollup_marks (org_id, hour, id)
        values (${DEFAULT_ORG}, ${hour}, ${newId()}::text::uuid)`);
    }),
  );
