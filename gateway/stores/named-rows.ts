import { and, eq, gt } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Transaction } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "./change.ts";
import type { Slice } from "./slice.ts";

type NamedTable = PgTable & { orgId: PgColumn; name: PgColumn };

/** What every table has whose rows administrators know by name: the organisation and the name are its key. */
export function namedRows<Row extends Record<string, unknown>>(
  table: NamedTable & { readonly $inferSelect: Row },
) {
  // A table of any shape gives the type checker no shape of its rows.
  const it: NamedTable = table;
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
      return rows as Row[];
    },
    find: async (reader: Reader, name: string): Promise<Row | null> => {
      const [row] = await reader.select().from(it).where(isNamed(name));
      return (row as Row | undefined) ?? null;
    },
    /** Makes the row, or puts it in the place of the one of its name. */
    write: async (tx: Transaction, row: Row): Promise<void> => {
      await tx
        .insert(it)
        .values(row)
        .onConflictDoUpdate({ target: [it.orgId, it.name], set: row });
    },
    /** The row that is gone; null where there was none. */
    remove: async (tx: Transaction, name: string): Promise<Row | null> => {
      const [row] = await tx.delete(it).where(isNamed(name)).returning();
      return (row as Row | undefined) ?? null;
    },
  };
}

/** The row with the members that a PATCH gives. */
export const patchedRow = <Row extends { updatedAt: string }>(
  current: Row,
  given: Partial<Row>,
  now: Date,
): Row => ({ ...current, ...given, updatedAt: now.toISOString() });
