import { arrayContains, eq, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/** What a list of records is limited to, whatever else it is asked for: an owner's or a team's; null: no limit. */
export type RecordScope = { owner: string } | { team: string } | null;

/** A key's owner may be written in another case than the person's e-mail. */
export function* inRecordScope(
  scope: RecordScope,
  columns: { owner: PgColumn; teams: PgColumn },
): Generator<SQL> {
  if (scope === null) return;
  if ("owner" in scope) yield eq(sql`lower(${columns.owner})`, scope.owner);
  else yield arrayContains(columns.teams, [scope.team]);
}
