import { asc, desc, eq, lt, notInArray, type SQL, sql } from "drizzle-orm";
import type { Database, Db } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { type BatchKind, batches, files } from "#drizzle/schema/batches.ts";
import { limitHolds } from "#drizzle/schema/limits.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Slice } from "./slice.ts";
import { withStoreErrors } from "./store-errors.ts";

export type FileRow = typeof files.$inferSelect;
export type NewFile = typeof files.$inferInsert;
export type BatchRow = typeof batches.$inferSelect;
export type NewBatch = typeof batches.$inferInsert;

/** A provider's report about a batch. */
export type BatchUpdate = Pick<
  BatchRow,
  "status" | "facts" | "outputFileId" | "errorFileId" | "requestsTotal"
>;

/** How the cost of a batch was recorded. */
export type Reconciled = { at: string } & Pick<
  BatchRow,
  "costUsd" | "costBasis" | "discountedCostUsd" | "partial"
>;

/** A file of another key gets the answer for a missing one. */
const ownFile = (keyId: string, ...more: (SQL | undefined)[]) =>
  ours(files, { keyId, deletedAt: null }, ...more);
const ownBatch = (keyId: string, kind: BatchKind, ...more: (SQL | undefined)[]) =>
  ours(batches, { keyId, kind, deletedAt: null }, ...more);
const isBatch = (id: string) => ours(batches, { id });

/** A file whose id exists already keeps its owner. */
export const insertFiles = (database: Db, rows: readonly NewFile[]) =>
  withStoreErrors(async () => {
    if (rows.length > 0)
      await database.db
        .insert(files)
        .values([...rows])
        .onConflictDoNothing();
  });

export const findFile = (database: Db, keyId: string, id: string): Promise<FileRow | null> =>
  withStoreErrors(() => {
    const isIt = ownFile(keyId, eq(files.id, id));
    return first(database.db.select().from(files).where(isIt));
  });

/** The most that is reserved for a batch in a budget, in exact USD; null: nothing is. */
export const reservedFor = ({ db }: Db, recordId: string): Promise<string | null> =>
  withStoreErrors(async () => {
    const [row] = await db
      .select({ usd: sql<string | null>`max(${limitHolds.usd})::text` })
      .from(limitHolds)
      .where(ours(limitHolds, { callId: recordId }));
    return row?.usd ?? null;
  });

/** Stored as the purpose of what other vendors than OpenAI keep: their own lists have it. */
const OTHER_VENDORS = ["anthropic", "google"];

export type FileList = Slice & { purpose: string | null; oldestFirst: boolean };

/** A key's files, newest first by default; `after` is the id of one of them. */
export const listFiles = (
  database: Db,
  keyId: string,
  { after, limit, purpose, oldestFirst }: FileList,
): Promise<FileRow[]> =>
  withStoreErrors(() => {
    const place = sql`(${files.createdAt}, ${files.id})`;
    const from = sql`(select created_at, id from files where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and id = ${after})`;
    const order = oldestFirst ? asc : desc;
    const isBehind = oldestFirst ? sql`${place} > ${from}` : sql`${place} < ${from}`;
    const ofPurpose =
      purpose === null ? notInArray(files.purpose, OTHER_VENDORS) : eq(files.purpose, purpose);
    return database.db
      .select()
      .from(files)
      .where(ownFile(keyId, ofPurpose, after === null ? undefined : isBehind))
      .orderBy(order(files.createdAt), order(files.id))
      .limit(limit);
  });

export const markFileDeleted = (database: Db, id: string, at: string) =>
  withStoreErrors(() => database.db.update(files).set({ deletedAt: at }).where(ours(files, { id })));

export const insertBatch = (database: Db, row: NewBatch) =>
  withStoreErrors(() => database.db.insert(batches).values(row).onConflictDoNothing());

export const findBatch = (
  database: Db,
  { keyId, kind, id }: { keyId: string; kind: BatchKind; id: string },
): Promise<BatchRow | null> => oneBatch(database, ownBatch(keyId, kind, eq(batches.id, id)));

/** The batch whose results a file contains. */
export const findBatchOfOutput = (database: Db, keyId: string, fileId: string): Promise<BatchRow | null> =>
  oneBatch(database, ownBatch(keyId, "lines", eq(batches.outputFileId, fileId)));

const oneBatch = (database: Db, where: SQL | undefined): Promise<BatchRow | null> =>
  withStoreErrors(() => first(database.db.select().from(batches).where(where).limit(1)));

/** Pages of a key's batches, newest first: behind the batch `after`, or the ones right before the batch `before`. */
export type BatchList = { kind: BatchKind; after: string | null; before: string | null; limit: number };

export const listBatches = (
  database: Db,
  keyId: string,
  { kind, after, before, limit }: BatchList,
): Promise<BatchRow[]> =>
  withStoreErrors(async () => {
    const place = sql`(${batches.startedAt}, ${batches.id})`;
    const of = (id: string) =>
      sql`(select started_at, id from batches where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and id = ${id})`;
    const isAfter = after === null ? undefined : sql`${place} < ${of(after)}`;
    const isBefore = before === null ? undefined : sql`${place} > ${of(before)}`;
    const order = before === null ? desc : asc;
    const rows = await database.db
      .select()
      .from(batches)
      .where(ownBatch(keyId, kind, isAfter, isBefore))
      .orderBy(order(batches.startedAt), order(batches.id))
      .limit(limit);
    return before === null ? rows : rows.reverse();
  });

/** The batch view of a key, for administrators: newest first, deleted ones too; `after` is a record's id. */
export const listKeyBatches = (
  reader: Pick<Database["db"], "select">,
  keyId: string,
  { after, limit }: Slice,
): PromiseLike<BatchRow[]> =>
  reader
    .select()
    .from(batches)
    .where(ours(batches, { keyId }, after === null ? undefined : lt(batches.recordId, after)))
    .orderBy(desc(batches.recordId))
    .limit(limit);

export const recordBatchUpdate = (database: Db, id: string, update: BatchUpdate) =>
  withStoreErrors(() => database.db.update(batches).set(update).where(isBatch(id)));

export const markBatchDeleted = (database: Db, id: string, at: string) =>
  withStoreErrors(() => database.db.update(batches).set({ deletedAt: at }).where(isBatch(id)));

/** Only the first reconciliation of a batch is recorded. */
export const markReconciled = (database: Db, id: string, { at, ...cost }: Reconciled) =>
  withStoreErrors(() =>
    database.db
      .update(batches)
      .set({ reconciledAt: at, ...cost })
      .where(ours(batches, { id, reconciledAt: null })),
  );

/** How long a batch that one process checks is reserved for it. */
const LEASE_MS = 2_400_000;

/** Batches that are due for a check, each given to one caller at a time; an unfinished one is due again later. `without`: providers. */
export const takeDueBatches = (
  database: Db,
  now: Date,
  { limit, without }: { limit: number; without: readonly string[] },
): Promise<BatchRow[]> =>
  withStoreErrors(async () => {
    const isDue = lt(batches.nextCheckAt, now.toISOString());
    const due = database.db
      .select({ id: batches.id })
      .from(batches)
      .where(ours(batches, { reconciledAt: null }, isDue, notInArray(batches.provider, [...without])))
      .orderBy(asc(batches.nextCheckAt))
      .limit(limit)
      .for("update", { skipLocked: true });
    return (
      database.db
        .update(batches)
        .set({
          nextCheckAt: new Date(now.getTime() + LEASE_MS).toISOString(),
          checks: sql`${batches.checks} + 1`,
        })
        // As an array it is read once: as a subquery, each row may lock its own ones.
        .where(ours(batches, {}, sql`${batches.id} = any(array(${due}))`))
        .returning()
    );
  });

export const checkBatchAgain = (database: Db, id: string, at: string) =>
  withStoreErrors(() => database.db.update(batches).set({ nextCheckAt: at }).where(isBatch(id)));
