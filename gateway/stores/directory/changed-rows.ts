import { getTableName, type SQL, sql } from "drizzle-orm";
import type { Runner } from "#drizzle/database.ts";
import { type OrgTable, ours } from "#drizzle/ours.ts";
import { keySecrets, keys } from "#drizzle/schema/keys.ts";
import { directoryVersions } from "#drizzle/schema/routes.ts";

/**
 * What one snapshot of the database says of its rows: the directory's version, when this server started (another one numbers its
 * transactions otherwise), the oldest transaction that had not ended, and what may have changed since the snapshot before.
 */
export type Marks = {
  version: number;
  server: string;
  oldestXid: string;
  tables: Record<string, [rows: number, changed: number]>;
  keyIds: string[];
};

/** The marks of this snapshot. Rows count as changed if the oldest transaction of the snapshot before, or a younger one, wrote them; null: no row does. */
export async function readMarks(tx: Runner, of: readonly OrgTable[], before: Marks | null): Promise<Marks> {
  const isNew = before ? sql`age(xmin) <= age(${before.oldestXid}::text::xid)` : sql`false`;
  const counted = (table: OrgTable) => sql`${getTableName(table)}::text,
    (select json_build_array(count(*), count(*) filter (where ${isNew})) from ${table})`;
  const changed = (select: SQL) => sql`${select} where ${isNew}`;
  const [row] = await tx.execute<Marks>(sql`
    select coalesce((select version from ${directoryVersions} where ${ours(directoryVersions)}), 0) as version,
      pg_postmaster_start_time()::text as server,
      pg_snapshot_xmin(pg_current_snapshot())::xid::text as "oldestXid",
      json_build_object(${sql.join(of.map(counted), sql`, `)}) as tables,
      array(${changed(sql`select id from ${keys}`)} union ${changed(sql`select key_id from ${keySecrets}`)}) as "keyIds"`);
  if (!row) throw new Error("Postgres answered no row.");
  return row;
}
