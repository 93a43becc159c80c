import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgInsertValue, PgTable, PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Transaction } from "#drizzle/database.ts";
import { type OrgTable, ours } from "#drizzle/ours.ts";
import { compareKeys } from "../state/later.ts";

type Key = readonly number[];
type RowOf<T extends OrgTable> = Omit<T["$inferSelect"], "orgId">;

/** A table and the members of its primary key that follow the organisation. */
export type KeyedTable<T extends OrgTable> = {
  table: T;
  columns: readonly PgColumn[];
  keyOf(row: RowOf<T>): Key;
};

export type Merge<T extends OrgTable, Fact> = KeyedTable<T> & {
  keyOfFact(fact: Fact): Key;
  /** The row after one more fact; the same whatever the order of facts. */
  merge(before: RowOf<T> | null, fact: Fact): RowOf<T>;
  /** Completes merged rows before they are written. */
  complete?(rows: readonly Merged<RowOf<T>>[]): Promise<RowOf<T>[]>;
};

export type Merged<Row> = { before: Row | null; after: Row };

const CHUNK = 200;
const idOf = (key: Key) => key.join("#");

/**
 * Merges facts into rows so that processes do not overwrite each other's: rows are locked, merged and written. A row
 * that another process inserts meanwhile is merged again. Unchanged rows are not written.
 */
export async function mergeRows<T extends OrgTable, Fact>(
  tx: Transaction,
  facts: readonly Fact[],
  by: Merge<T, Fact>,
): Promise<void> {
  const groups = new Map<string, { key: Key; facts: Fact[] }>();
  for (const fact of facts) {
    const key = by.keyOfFact(fact);
    const group = groups.get(idOf(key));
    if (group) group.facts.push(fact);
    else groups.set(idOf(key), { key, facts: [fact] });
  }
  // In one order, so that two transactions do not wait for each other's rows in a circle.
  const ordered = [...groups.values()].sort((a, b) => compareKeys(a.key, b.key));
  for (const chunk of chunksOf(ordered)) {
    let left = chunk;
    while (left.length > 0) left = await mergeOnce(tx, left, by);
  }
}

/** @returns the groups whose rows another process inserted meanwhile. */
async function mergeOnce<T extends OrgTable, Group extends { key: Key; facts: Fact[] }, Fact>(
  tx: Transaction,
  groups: readonly Group[],
  by: Merge<T, Fact>,
): Promise<Group[]> {
  const keys = groups.map(({ key }) => key);
  const idOfRow = (row: RowOf<T>) => idOf(by.keyOf(row));
  const present = new Map((await lockRows(tx, by, keys)).map((row) => [idOfRow(row), row]));
  const merged: Merged<RowOf<T>>[] = [];
  for (const { key, facts } of groups) {
    const before = present.get(idOf(key)) ?? null;
    const after = facts.reduce<RowOf<T> | null>(by.merge, before);
    if (after !== null) merged.push({ before, after });
  }
  const rows = (await by.complete?.(merged)) ?? merged.map(({ after }) => after);
  const isChanged = (row: RowOf<T>) => {
    const before = present.get(idOfRow(row));
    return before !== undefined && !Bun.deepEquals(withoutOrg(before), withoutOrg(row));
  };
  await replaceRows(tx, by, rows.filter(isChanged));
  const fresh = rows.filter((row) => !present.has(idOfRow(row)));
  const inserted = new Set((await insertRows(tx, by, fresh)).map(idOfRow));
  return groups.filter(({ key }) => !present.has(idOf(key)) && !inserted.has(idOf(key)));
}

/** A row that was read has its organisation, a merged one need not. */
const withoutOrg = (row: object) => ({ ...row, orgId: null });

/** Reads and locks the rows of these keys, in the keys' order. */
export async function lockRows<T extends OrgTable>(
  tx: Transaction,
  { table, columns }: KeyedTable<T>,
  keys: readonly Key[],
): Promise<RowOf<T>[]> {
  const list = (members: readonly (SQL | PgColumn)[]) => sql.join([...members], sql`, `);
  const members = columns.map((_, index) => sql`(k ->> ${sql.raw(String(index))})::bigint`);
  // A join: Postgres would compare each row with each key of a list of tuples.
  const wanted = sql`select ${list(members)} from jsonb_array_elements(${JSON.stringify(keys)}::jsonb) as k`;
  const rows = await tx
    .select()
    // T is an OrgTable; drizzle does not resolve the type of a selection from a generic table.
    .from(table as OrgTable)
    .where(ours(table as OrgTable, {}, sql`(${list(columns)}) in (${wanted})`))
    .orderBy(...columns)
    .for("update");
  // A selection without columns gives whole rows of `table`.
  return rows as RowOf<T>[];
}

/** Inserts rows. @returns those that no other process had inserted. */
async function insertRows<T extends OrgTable>(
  tx: Transaction,
  { table }: KeyedTable<T>,
  rows: readonly RowOf<T>[],
): Promise<RowOf<T>[]> {
  if (rows.length === 0) return [];
  // The organisation has a default; all other columns are in a row, and `returning()` gives whole rows.
  const values = rows as PgInsertValue<T>[];
  return (await tx.insert(table).values(values).onConflictDoNothing().returning()) as RowOf<T>[];
}

/** Writes locked rows: each exists, so every insertion turns into an update. */
export async function replaceRows<T extends OrgTable>(
  tx: Transaction,
  { table, columns }: KeyedTable<T>,
  rows: readonly RowOf<T>[],
): Promise<void> {
  if (rows.length === 0) return;
  const target = [table.orgId, ...columns];
  // T is a PgTable; for a generic table the columns would have no type.
  const others = Object.entries(getTableColumns(table as PgTable)).filter(([, it]) => !target.includes(it));
  const set = others.map(([name, { name: column }]) => [name, sql`excluded.${sql.identifier(column)}`]);
  await tx
    .insert(table)
    // As in `insertRows`; the names of `set` are those of the table's columns.
    .values(rows as PgInsertValue<T>[])
    .onConflictDoUpdate({ target, set: Object.fromEntries(set) as PgUpdateSetSource<T> });
}

export function* chunksOf<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += CHUNK) yield items.slice(start, start + CHUNK);
}
