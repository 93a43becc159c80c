import { and, eq, inArray, isNull, type SQL, type SQLWrapper } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { DEFAULT_ORG } from "#shared/ids.ts";

export type OrgTable = PgTable & { orgId: PgColumn };

/** Values of columns, by member. Null: it has none. A list: one of them. Never undefined, which would let any row in. */
export type Values<T extends OrgTable> = {
  [Member in keyof T["$inferSelect"]]?: T["$inferSelect"][Member] | readonly T["$inferSelect"][Member][];
};

/** Condition on the organisation's rows of a table that have these values and meet `more`. */
export function ours<T extends OrgTable>(
  table: T,
  values: Values<T> = {},
  ...more: (SQLWrapper | undefined)[]
): SQL | undefined {
  const having = Object.entries(values).map(([member, value]) => {
    // Every member of `Values` is a column of the table.
    const column = table[member as keyof T] as PgColumn;
    if (value === null) return isNull(column);
    return Array.isArray(value) ? inArray(column, [...value]) : eq(column, value);
  });
  return and(eq(table.orgId, DEFAULT_ORG), ...having, ...more);
}

/** Of what may narrow a list, the values that are not null or absent. */
export const given = <It extends object>(it: It) =>
  // Exactly these are left out.
  Object.fromEntries(Object.entries(it).filter(([, value]) => value !== null && value !== undefined)) as {
    [Name in keyof It]?: NonNullable<It[Name]>;
  };

/** Condition of a join: rows of one organisation whose columns are equal. */
export const joinedOn = (column: PgColumn, to: PgColumn): SQL | undefined =>
  and(eq(orgOf(column), orgOf(to)), eq(column, to));

// Every table that is joined has `org_id`.
const orgOf = ({ table }: PgColumn): PgColumn => (table as OrgTable).orgId;

/** The first row; null without rows. */
export const first = async <Row>(rows: PromiseLike<readonly Row[]>): Promise<Row | null> =>
  (await rows)[0] ?? null;
