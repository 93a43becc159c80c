import type { Database } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

/** Remembers until when (Unix milliseconds) GitHub asked not to be called for an installation. */
export async function saveWait({ sql }: Database, installationId: number, untilMs: number): Promise<void> {
  const until = new Date(untilMs).toISOString();
  await sql`
    insert into github_waits (org_id, installation_id, until)
    values (${DEFAULT_ORG}, ${installationId}, ${until}::timestamptz)
    on conflict (org_id, installation_id) do update set until = greatest(github_waits.until, excluded.until)`;
}

/** The waits that are not over at `now`. */
export async function readWaits(
  { sql }: Database,
  now: Date,
): Promise<{ installationId: number; untilMs: number }[]> {
  const rows = await sql<{ installation_id: string; until: Date }[]>`
    select installation_id, until from github_waits
    where org_id = ${DEFAULT_ORG} and until > ${now.toISOString()}::timestamptz`;
  return rows.map((row) => ({ installationId: Number(row.installation_id), untilMs: row.until.getTime() }));
}
