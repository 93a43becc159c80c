import { getTableColumns } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";

const quoted = (name: string) => `"${name}"`;

/**
 * The parts of a statement that inserts rows of a table from a JSON array, whose members are named as the table's are: the
 * columns, their values in a row `r`, and the types of that row. `orDefault`: a value, or what stands in its column without one.
 */
export function jsonRows(
  table: PgTable,
  { without = [], orDefault = (value) => value }: JsonRows = {},
): Record<"columns" | "values" | "types", string> {
  const named = Object.entries(getTableColumns(table)).filter(([member]) => !without.includes(member));
  return {
    columns: named.map(([, { name }]) => quoted(name)).join(", "),
    values: named.map(([member, column]) => orDefault(`r.${quoted(member)}`, column.default)).join(", "),
    types: named.map(([member, column]) => `${quoted(member)} ${column.getSQLType()}`).join(", "),
  };
}

type JsonRows = { without?: readonly string[]; orDefault?: (value: string, absent: unknown) => string };
