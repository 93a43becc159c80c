import { and, eq, gt } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Transaction } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "./change.ts";
import type { Slice } from "./slice.ts";

type NamedTable = PgTable & { orgId: PgColumn; name: PgColumn };

/** Reads and writes a table whose key is the organisation and the name. */
export function namedRows<Row extends Record<string, unknown>>(
  table: NamedTable & { readonly $inferSelect: Row },
) {
  // Drizzle cannot type the rows of a generic table: `it` drops their type, and `typed` restores it.
  const it: NamedTable = table;
  // `it` is `table`, so its rows are `table`'s.
  const typed = (rows: Record<string, unknown>[]) => rows as Row[];
  const isNamed = (name: string) => and(eq(it.orgId, DEFAULT_ORG), eq(it.name, name));
  return {
    /** By name. */
    list: async (reader: Reader, { after, limit }: Slice): Promise<Row[]> => {
      const isBehind = after === null ? undefined : gt(it.name, after);
      const rows = await reader
        .select()
        .from(it)
        .where(and(eq(it.orgId, DEFAULT_ORG), isBehind))
        .orderBy(it.name)
        .limit(limit);
      return typed(rows);
    },
    all: async (reader: Reader): Promise<Row[]> =>
      typed(await reader.select().from(it).where(eq(it.orgId, DEFAULT_ORG)).orderBy(it.name)),
    find: async (reader: Reader, name: string): Promise<Row | null> => {
      const [row] = typed(await reader.select().from(it).where(isNamed(name)));
      return row ?? null;
    },
    /** Inserts the row, or replaces the one of its name. */
    write: async (tx: Transaction, row: Row): Promise<void> => {
      await tx
        .insert(it)
        .values(row)
        .onConflictDoUpdate({ target: [it.orgId, it.name], set: row });
    },
    /** The removed row; null if there was none. */
    remove: async (tx: Transaction, name: string): Promise<Row | null> => {
      const [row] = typed(await tx.delete(it).where(isNamed(name)).returning());
      return row ?? null;
    },
  };
}

/** The row with the members of a PATCH. */
export const patchedRow = <Row extends { updatedAt: string }>(
  current: Row,
  given: Partial<Row>,
  now: Date,
): Row => ({ ...current, ...given, updatedAt: now.toISOString() });
