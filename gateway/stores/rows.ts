import { asc, desc, eq, gt, lt, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Transaction } from "#drizzle/database.ts";
import { first, type OrgTable, ours } from "#drizzle/ours.ts";
import { readDecimal, readInstant } from "#shared/admin/fields.ts";
import { camelCase, camelCased } from "#shared/case.ts";
import { newId } from "#shared/ids.ts";
import { refuse } from "../errors.ts";
import type { Sealer } from "./seal.ts";
import type { Slice } from "./slice.ts";

type Reader = Pick<Transaction, "select">;

/** What a body makes of a row that has a credential. */
export type Edit<Row, Body> = {
  name: string;
  /** The row as it is; null makes a new one. */
  current: Row | null;
  body: Body;
  /** Keep absent members (PATCH), instead of setting their defaults (POST, PUT). */
  merge: boolean;
  sealer: Sealer;
  now: Date;
};

type KeyedTable<Key extends string, Row> = OrgTable & Record<Key, PgColumn> & { readonly $inferSelect: Row };

/** Reads and writes a table whose key is the organisation and one more column, by which it is listed; `where` narrows. */
export function keyedRows<Key extends string, Row extends Record<Key, string>>(
  table: KeyedTable<Key, Row>,
  key: Key,
  newestFirst = false,
) {
  // Drizzle cannot type the rows of a generic table: `it` drops their type, and `typed` restores it.
  const it: OrgTable = table;
  // `it` is `table`, so its rows are `table`'s.
  const typed = (rows: Record<string, unknown>[]) => rows as Row[];
  const column: PgColumn = table[key];
  const order = newestFirst ? desc(column) : asc(column);
  const behind = newestFirst ? lt : gt;
  const isThat = (value: string, where?: SQL) => ours(it, {}, eq(column, value), where);
  return {
    list: async (reader: Reader, { after, limit }: Slice, where?: SQL): Promise<Row[]> => {
      const isListed = ours(it, {}, after === null ? undefined : behind(column, after), where);
      return typed(await reader.select().from(it).where(isListed).orderBy(order).limit(limit));
    },
    all: async (reader: Reader, where?: SQL): Promise<Row[]> =>
      typed(
        await reader
          .select()
          .from(it)
          .where(ours(it, {}, where))
          .orderBy(order),
      ),
    find: (reader: Reader, value: string, where?: SQL): Promise<Row | null> =>
      first(reader.select().from(it).where(isThat(value, where)).then(typed)),
    /** Inserts the row, or replaces the one of its key. */
    write: async (tx: Transaction, row: Row): Promise<void> => {
      await tx
        .insert(it)
        .values(row)
        .onConflictDoUpdate({ target: [it.orgId, column], set: row });
    },
    /** The removed row; null if there was none. */
    remove: (tx: Transaction, value: string): Promise<Row | null> =>
      first(tx.delete(it).where(isThat(value)).returning().then(typed)),
  };
}

/** Of a table whose key is a name. */
export const namedRows = <Row extends { name: string }>(table: KeyedTable<"name", Row>) =>
  keyedRows(table, "name");

type Kept = "orgId" | "id" | "createdAt";

/** Of a table whose key is an id; newest first, by when they were entered. */
export const idRows = <Row extends { id: string; createdAt: string }>(table: KeyedTable<"id", Row>) => ({
  ...keyedRows(table, "id", true),
  insert: async (tx: Transaction, facts: Omit<Row, Kept>, now: Date): Promise<string> => {
    const it: OrgTable = table;
    const id = newId();
    await tx.insert(it).values({ ...facts, id, createdAt: now.toISOString() });
    return id;
  },
  update: async (tx: Transaction, id: string, facts: Omit<Row, Kept>): Promise<void> => {
    const it: OrgTable = table;
    await tx
      .update(it)
      .set(facts)
      .where(ours(it, {}, eq(table.id, id)));
  },
});

/**
 * A row's fields with what a checked body gives; `decimals` names its exact numbers.
 * @throws GatewayError invalid_request if it would end before it begins
 */
export function editedFields<Fields extends { effectiveFrom: string; effectiveTo?: string | null }>(
  before: Fields,
  body: object,
  decimals: readonly (keyof Fields)[],
): Fields {
  const read = ([name, value]: [string, unknown]): [string, unknown] => {
    if (decimals.some((decimal) => decimal === camelCase(name))) return [name, readDecimal(value)];
    const isTime = name.startsWith("effective_") && typeof value === "string";
    return [name, isTime ? new Date(readInstant(value) ?? 0).toISOString() : value];
  };
  const given = Object.fromEntries(Object.entries(body).map(read));
  // The body has members of the fields alone.
  const it = { ...before, ...camelCased(given) } as Fields;
  if (it.effectiveTo && it.effectiveTo <= it.effectiveFrom) {
    refuse("/effective_to: Expected a time after effective_from.");
  }
  return it;
}

/** The row with the members of a PATCH. */
export const patchedRow = <Row extends { updatedAt: string }>(
  current: Row,
  given: Partial<Row>,
  now: Date,
): Row => ({ ...current, ...given, updatedAt: now.toISOString() });
