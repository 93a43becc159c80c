import type { Database } from "#drizzle/database.ts";

/**
 * What deliveries and reconcile lead to, without when it was heard. `whole`: with the history of each link, which only
 * deliveries can tell (GitHub's lists do not say that a body was edited, nor what it said before).
 */
export async function githubTables({ sql }: Database, { whole }: { whole: boolean }) {
  const history = whole ? sql`, evidence, edited_after_merge` : sql``;
  return {
    installations: await sql`select id, account_login, account_id, state from installations order by id`,
    repositories: await sql`
      select id, full_name, former_names, installation_id, covered from repositories order by id`,
    coverage: await sql`
      select distinct installation_id, repository_id, kind from coverage_changes where repository_id > 0
      order by 1, 2, 3`,
    pullRequests: await sql`
      select repository_id, number, state, author_login, author_is_bot, opened_at, merged_at, merge_commit_sha, link,
        session_ids, session, body_sha256, body_at, reverts_by_branch, reverts_by_body, reverts_by_sha ${history}
      from pull_requests order by repository_id, number`,
    reviews: await sql`
      select repository_id, id, number, reviewer_login, submitted_at, dismissed, session_ids, session
      from reviews order by repository_id, id`,
  };
}

/** A digest of the same. */
export async function githubTablesDigest(database: Database, what: { whole: boolean }): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const rows of Object.values(await githubTables(database, what))) hasher.update(JSON.stringify(rows));
  return hasher.digest("hex");
}
