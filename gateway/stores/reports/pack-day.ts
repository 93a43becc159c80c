import { PACK_DAY } from "../../reports/rollup/pack.ts";
import { NEVER_ROLLED, type Sql, type State } from "./rollup-writer.ts";

const NEVER = NEVER_ROLLED.slice(0, 10);

/**
 * After an update of the tables: packs the histograms of the newest day that is not known to have none in columns, and
 * makes its cells anew. Returns whether there was one.
 */
export async function packNextDay(sql: Sql, orgId: string, { packedFrom }: State): Promise<boolean> {
  if (packedFrom <= NEVER) return false;
  const [row] = await sql<{ day: string | null }[]>`
    select (max(hour) at time zone 'UTC')::date::text as day from rollup_hours
    where org_id = ${orgId} and hour < ${packedFrom}::text::timestamp at time zone 'UTC'`;
  const day = row?.day ?? NEVER;
  if (row?.day) for (const statement of PACK_DAY) await sql.unsafe(statement, [orgId, day]);
  await sql`update rollup_state set packed_from = ${day} where org_id = ${orgId}`;
  return true;
}
