import { arrayContains, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { keys } from "#drizzle/schema/keys.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { keysOf } from "#shared/keys-of.ts";
import type { Slice } from "./slice.ts";

/** Restricts a list to one owner or team; null: unrestricted. */
export type RecordScope = { owner: string } | { team: string } | null;

/** Filters of a list of records; `equal` has the exact values of columns. */
export type RecordQuery<Filter extends string> = Slice & {
  equal: Partial<Record<Filter, string>>;
  key: { name: string } | { id: string } | null;
  /** The team, or one above it. */
  team: string | null;
  /** RFC 3339; half-open, `from` ≤ start < `to`. */
  from: string | null;
  to: string | null;
  scope: RecordScope;
};

type Columns<Filter extends string> = {
  of: Record<"orgId" | "id" | "keyId" | "owner" | "teams" | "startedAt", PgColumn>;
  filters: Readonly<Record<Filter, PgColumn | SQL>>;
};

export function* recordConditions<Filter extends string>(
  { of, filters }: Columns<Filter>,
  { equal, key, team, from, to, after, scope }: RecordQuery<Filter>,
): Generator<SQL> {
  yield eq(of.orgId, DEFAULT_ORG);
  yield* inRecordScope(scope, of);
  yield* equalTo(filters, equal);
  if (key) yield "id" in key ? eq(of.keyId, key.id) : eq(keys.name, key.name);
  if (team !== null) yield arrayContains(of.teams, [team]);
  if (from !== null) yield gte(of.startedAt, from);
  if (to !== null) yield lt(of.startedAt, to);
  if (after !== null) yield lt(of.id, after);
}

export function* inRecordScope(
  scope: RecordScope,
  columns: { owner: PgColumn; teams: PgColumn },
): Generator<SQL> {
  if (scope === null) return;
  if ("owner" in scope) yield eq(sql`lower(${columns.owner})`, scope.owner);
  else yield arrayContains(columns.teams, [scope.team]);
}

/** Conditions of a list's filters: each column that `equal` names has that value, or begins with what is before a `*` at its end. */
export function* equalTo<Name extends string>(
  columns: Readonly<Record<Name, PgColumn | SQL>>,
  equal: Readonly<Partial<Record<Name, string>>>,
): Generator<SQL> {
  for (const name of keysOf(columns)) {
    const given = equal[name];
    if (given === undefined) continue;
    // A key's owner may be written in another case than the person's e-mail.
    const [column, value] =
      name === "owner" ? [sql`lower(${columns[name]})`, given.toLowerCase()] : [columns[name], given];
    if (value.endsWith("*")) yield sql`starts_with(${column}::text, ${value.slice(0, -1)})`;
    else yield sql`${column} = ${value}`;
  }
}
