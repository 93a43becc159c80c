import type { Database } from "#drizzle/database.ts";

/** Repositories of which rows are looked at, and whether they are all others instead. */
export type Selection = { repositories: readonly number[]; others?: boolean };

/**
 * What deliveries and reconcile lead to, without when it was heard. `whole`: with the history of each link, which only
 * deliveries can tell (GitHub's lists do not say that a body was edited, nor what it said before).
 */
function queries({ sql }: Database, { repositories, others = false }: Selection, whole: boolean) {
  const ids = sql([...repositories, 0] as number[]);
  const of = (column: string) => sql`${sql.unsafe(column)} ${others ? sql`not in` : sql`in`} ${ids}`;
  const history = whole ? sql`, evidence, edited_after_merge` : sql``;
  return {
    installations: sql`select id, account_login, account_id, state from installations order by id`,
    repositories: sql`
      select id, full_name, former_names, installation_id, covered from repositories where ${of("id")} order by id`,
    coverage: sql`
      select distinct installation_id, repository_id, kind from coverage_changes
      where repository_id > 0 and ${of("repository_id")} order by 1, 2, 3`,
    pullRequests: sql`
      select repository_id, number, state, author_login, author_is_bot, opened_at, merged_at, merge_commit_sha, link,
        session_ids, session, body_sha256, body_at, reverts_by_branch, reverts_by_body, reverts_by_sha ${history}
      from pull_requests where ${of("repository_id")} order by repository_id, number`,
    reviews: sql`
      select repository_id, id, number, reviewer_login, submitted_at, dismissed, session_ids, session
      from reviews where ${of("repository_id")} order by repository_id, id`,
  };
}

export async function githubTables(database: Database, selection: Selection, { whole }: { whole: boolean }) {
  const asked = queries(database, selection, whole);
  return {
    installations: await asked.installations,
    repositories: await asked.repositories,
    coverage: await asked.coverage,
    pullRequests: await asked.pullRequests,
    reviews: await asked.reviews,
  };
}

/** A digest of the same, histories with it, made where the rows are. */
export async function githubTablesDigest(database: Database, selection: Selection): Promise<string> {
  const { sql } = database;
  const digests: string[] = [];
  for (const query of Object.values(queries(database, selection, true))) {
    const [row] =
      await sql`select md5(coalesce(string_agg(t::text, chr(10)), '')) as digest from (${query}) as t`;
    digests.push(row?.["digest"]);
  }
  return digests.join(" ");
}
