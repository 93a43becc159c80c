import { sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

export type Backfill = {
  /** Null: back to the first pull request. */
  since: string | null;
  /** `owner/name`; null: every repository. */
  repository: string | null;
};

/** Makes the GitHub App read repositories again from the latest change back to `since`; answers how many. */
export async function requestBackfill(
  tx: Transaction,
  { since, repository }: Backfill,
  now: Date,
): Promise<number> {
  const rows = await tx.execute(sql`
    update github_passes p set phase = 'idle', page = 1, watermark = null, stop_at = ${since}::timestamptz,
      due_at = ${now.toISOString()}::timestamptz, failure = null
    from repositories r
    where p.org_id = ${DEFAULT_ORG} and r.org_id = p.org_id and r.id = p.repository_id
      and (${repository}::text is null or r.full_name = ${repository})
    returning p.repository_id`);
  return rows.length;
}
