import { sql as drizzle } from "drizzle-orm";
import { isFromOutside } from "#drizzle/claims.ts";
import type { Database } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import type { PullRequestFacts } from "../facts/facts.ts";
import { onlyOne } from "../state/pull-request-after.ts";
import { emptyBatch, writeFacts } from "./fact-batch.ts";

const KEPT_DAYS = 30;

/** SQL of `pull_request_stamping` at this moment. */
export const isStamping = ({ sql }: Pick<Database, "sql">) => sql`
  coalesce((select value -> 'pull_request_stamping' from settings where org_id = ${DEFAULT_ORG}),
    to_jsonb(${DEFAULT_SETTINGS.pull_request_stamping}::boolean)) = 'true'::jsonb`;

/**
 * While `pull_request_stamping` is off, keeps of a merged pull request that names one session what joining needs, and
 * nothing else. A merge that could be a claim is left out: what decides about it is not kept.
 */
export async function keepWaitingMerges(database: Database, facts: readonly PullRequestFacts[]) {
  const { sql } = database;
  const merges = facts.flatMap((it) =>
    it.merged === null
      ? []
      : {
          repository_id: it.repositoryId,
          number: it.number,
          author_login: it.authorLogin,
          session: isFromOutside(it) ? null : onlyOne(it.body.sessionIds),
          merged_at: it.merged.at,
        },
  );
  if (merges.length === 0) return;
  await sql`
    with given as (
      select distinct on (repository_id, number) *
      from jsonb_to_recordset(${sql.json(merges)}::jsonb) as m(repository_id bigint, number integer,
        author_login text, session text, merged_at timestamptz)
    ), removed as (
      delete from waiting_merges w using given g
      where w.org_id = ${DEFAULT_ORG} and w.repository_id = g.repository_id and w.number = g.number and g.session is null
    )
    insert into waiting_merges (org_id, repository_id, number, author_login, session, merged_at)
    select ${DEFAULT_ORG}, repository_id, number, author_login, session, merged_at from given
    where session is not null and not (${isStamping(database)})
    on conflict (org_id, repository_id, number) do update set session = excluded.session`;
}

/** Once `pull_request_stamping` is on, turns what waited into merged pull requests. @returns how many. */
export async function joinWaitingMerges(database: Database): Promise<number> {
  const { sql } = database;
  const [on] = await sql`
    select 1 from waiting_merges where org_id = ${DEFAULT_ORG} and (${isStamping(database)}) limit 1`;
  if (!on) return 0;
  return await database.db.transaction(async (tx) => {
    const rows = await tx.execute<Waiting>(drizzle`
      delete from waiting_merges where org_id = ${DEFAULT_ORG}
      returning repository_id, number, author_login, session, merged_at as at`);
    const batch = emptyBatch();
    for (const row of rows) batch.pullRequests.push({ deliveryId: null, facts: factsOf(row) });
    await writeFacts(tx, batch);
    return rows.length;
  });
}

type Waiting = {
  repository_id: string;
  number: number;
  author_login: string | null;
  session: string;
  at: Date;
};

const factsOf = (row: Waiting): PullRequestFacts => {
  const at = new Date(row.at).toISOString();
  return {
    action: "closed",
    installation: null,
    sightings: [],
    repositoryId: Number(row.repository_id),
    number: row.number,
    open: false,
    openedAt: null,
    merged: { at, sha: null },
    editedAfterMerge: false,
    authorLogin: row.author_login,
    authorIsBot: false,
    authorAssociation: null,
    fromFork: null,
    revertsByBranch: null,
    // Any report of the pull request itself wins against it.
    body: {
      at,
      edited: false,
      sessionIds: [row.session],
      diagnostics: [],
      sha256: "",
      revertsByBody: [],
      revertsBySha: [],
    },
  };
};

/** Deletes those that were merged over 30 days before `now`. */
export async function purgeWaitingMerges({ sql }: Database, now: Date): Promise<void> {
  await sql`
    delete from waiting_merges
    where org_id = ${DEFAULT_ORG} and merged_at < ${now.toISOString()}::timestamptz - make_interval(days => ${KEPT_DAYS})`;
}
