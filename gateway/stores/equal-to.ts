import { eq, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { keysOf } from "#shared/keys-of.ts";

/** Conditions of a list's filters: each column that `equal` names has exactly that value. */
export function* equalTo<Name extends string>(
  columns: Readonly<Record<Name, PgColumn>>,
  equal: Readonly<Partial<Record<Name, string>>>,
): Generator<SQL> {
  for (const name of keysOf(columns)) {
    const value = equal[name];
    if (value !== undefined) yield eq(columns[name], value);
  }
}
