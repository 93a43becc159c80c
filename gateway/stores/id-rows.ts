import { and, desc, eq, lt } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Transaction } from "#drizzle/database.ts";
import { readDecimal, readInstant } from "#shared/admin/fields.ts";
import { camelCase, camelCased } from "#shared/case.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { refuse } from "../errors.ts";
import type { Reader } from "./change.ts";
import type { Slice } from "./slice.ts";

type IdTable = PgTable & { orgId: PgColumn; id: PgColumn };
type Kept = "orgId" | "id" | "createdAt";

/** Reads and writes a table whose key is the organisation and an id. */
export function idRows<Row extends { id: string; createdAt: string }>(
  table: IdTable & { readonly $inferSelect: Row },
) {
  // Drizzle cannot type the rows of a generic table: `it` drops their type, and `typed` restores it.
  const it: IdTable = table;
  // `it` is `table`, so its rows are `table`'s.
  const typed = (rows: Record<string, unknown>[]) => rows as Row[];
  const isThat = (id: string) => and(eq(it.orgId, DEFAULT_ORG), eq(it.id, id));
  return {
    /** Newest first, by when they were entered. */
    list: async (reader: Reader, { after, limit }: Slice): Promise<Row[]> => {
      const isBehind = after === null ? undefined : lt(it.id, after);
      const isListed = and(eq(it.orgId, DEFAULT_ORG), isBehind);
      return typed(await reader.select().from(it).where(isListed).orderBy(desc(it.id)).limit(limit));
    },
    find: async (reader: Reader, id: string): Promise<Row | null> => {
      const [row] = typed(await reader.select().from(it).where(isThat(id)));
      return row ?? null;
    },
    /** Returns the row's new id. */
    insert: async (tx: Transaction, facts: Omit<Row, Kept>, now: Date): Promise<string> => {
      const id = newId();
      await tx.insert(it).values({ ...facts, id, createdAt: now.toISOString() });
      return id;
    },
    update: async (tx: Transaction, id: string, facts: Omit<Row, Kept>): Promise<void> => {
      await tx.update(it).set(facts).where(isThat(id));
    },
    remove: async (tx: Transaction, id: string): Promise<void> => {
      await tx.delete(it).where(isThat(id));
    },
  };
}

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
  if (it.effectiveTo && it.effectiveTo <= it.effectiveFrom)
    refuse("/effective_to: Expected a time after effective_from.");
  return it;
}
