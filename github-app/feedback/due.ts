import type { Database } from "#drizzle/database.ts";
import type { LinkEvidence, LinkState } from "#drizzle/schema/github.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

/** Where a pull request is at GitHub. */
export type Place = {
  repositoryId: number;
  number: number;
  owner: string;
  repo: string;
  installationId: number;
};

export type CheckDue = Place & {
  sessionIds: string[];
  diagnostics: string[];
  known: boolean;
  /** `updated_at` of the pull request as last heard. */
  bodyAt: string;
  /** What the check run is to say, as a key: the same key is the same text. */
  wanted: string;
};

/** A merged pull request keeps its check run true for this long. */
const CHECK_DAYS = 7;
const DUE_MAX = 20;

export type PlaceRow = { repository_id: string; number: number; full_name: string; installation_id: string };

export const placeOf = (row: PlaceRow): Place => {
  const [owner = "", repo = ""] = row.full_name.split("/");
  return {
    repositoryId: Number(row.repository_id),
    number: row.number,
    owner,
    repo,
    installationId: Number(row.installation_id),
  };
};

/** The repository of `p`, where the App is installed and works. */
export const installed = ({ sql }: Database) => sql`
  join repositories r on r.org_id = p.org_id and r.id = p.repository_id and r.covered
    and r.installation_id is not null and not exists (
      select from installations i where i.org_id = r.org_id and i.id = r.installation_id and i.state <> 'active')`;

/** Not in another process's hands, and not to be tried later. */
export const free = ({ sql }: Database, now: Date) => sql`
  coalesce(f.busy_until, '-infinity') <= ${now.toISOString()}::timestamptz
    and coalesce(f.next_attempt_at, '-infinity') <= ${now.toISOString()}::timestamptz`;

const ago = (now: Date, hours: number): string => new Date(now.getTime() - hours * 3_600_000).toISOString();

/** Pull requests that are open or were just merged and whose check run is missing or says something else. */
export async function checksDue(database: Database, now: Date): Promise<CheckDue[]> {
  const { sql } = database;
  const rows = await sql<
    (PlaceRow & {
      session_ids: string[];
      evidence: LinkEvidence[];
      known: boolean;
      body_at: Date;
      wanted: string;
    })[]
  >`
    select p.repository_id, p.number, r.full_name, r.installation_id, p.session_ids, p.evidence, k.known, p.body_at,
      w.wanted
    from pull_requests p ${installed(database)}
    left join github_feedback f on f.org_id = p.org_id and f.kind = 'check' and f.repository_id = p.repository_id
      and f.number = p.number
    cross join lateral (
      select p.session is not null and (p.link = 'joined' or exists (
        select from requests q where q.org_id = p.org_id and q.session = p.session)) as known
    ) k
    cross join lateral (select k.known || ' ' || coalesce(p.body_sha256, '') as wanted) w
    where p.org_id = ${DEFAULT_ORG} and p.body_at is not null
      and (p.state = 'open' or p.merged_at > ${ago(now, CHECK_DAYS * 24)}::timestamptz)
      and (f.shown is distinct from w.wanted or f.seen_at is distinct from p.body_at)
      and ${free(database, now)}
    order by p.body_at desc, p.repository_id, p.number
    limit ${DUE_MAX}`;
  return rows.map((row) => ({
    ...placeOf(row),
    sessionIds: row.session_ids,
    diagnostics: row.evidence.findLast((it) => it.rule.startsWith("body_"))?.diagnostics ?? [],
    known: row.known,
    bodyAt: row.body_at.toISOString(),
    wanted: row.wanted,
  }));
}

export type CommentDue = Place & {
  link: LinkState;
  session: string | null;
  sharedBy: number;
};

/** A merge is commented on if it is seen within this time, so that switching comments on does not wake up the past. */
const COMMENT_FIRST_HOURS = 24;
/** A comment's figures are kept true for this long after the merge. */
const COMMENT_DAYS = 30;
/** Figures are looked at again after so long without new calls, because prices and batches can change them too. */
const COMMENT_AGAIN_HOURS = 1;

/** Remembers merges of the last day, so that they are commented on when their session is known. */
export async function expectComments(database: Database, now: Date): Promise<void> {
  const { sql } = database;
  await sql`
    insert into github_feedback (org_id, kind, repository_id, number)
    select p.org_id, 'comment', p.repository_id, p.number
    from pull_requests p ${installed(database)}
    where p.org_id = ${DEFAULT_ORG} and p.merged_at > ${ago(now, COMMENT_FIRST_HOURS)}::timestamptz
    on conflict do nothing`;
}

/** Merged pull requests whose comment is missing, or may say something else by now. */
export async function commentsDue(database: Database, now: Date): Promise<CommentDue[]> {
  const { sql } = database;
  const lookedAt = sql`coalesce(f.seen_at, '-infinity')`;
  const rows = await sql<(PlaceRow & { link: LinkState; session: string | null; shared_by: number })[]>`
    select p.repository_id, p.number, r.full_name, r.installation_id, p.link, p.session, (
      select count(*)::integer from pull_requests o
      where o.org_id = p.org_id and o.session = p.session and o.merged_at is not null) as shared_by
    from github_feedback f
    join pull_requests p on p.org_id = f.org_id and p.repository_id = f.repository_id and p.number = f.number
    ${installed(database)}
    where f.org_id = ${DEFAULT_ORG} and f.kind = 'comment'
      and p.merged_at > ${ago(now, COMMENT_DAYS * 24)}::timestamptz
      and case when f.shown is null then p.link = 'joined'
        when split_part(f.shown, ' ', 1) <> p.link || ':' || coalesce(p.session, '') then true
        else ${lookedAt} < ${ago(now, COMMENT_AGAIN_HOURS)}::timestamptz or (
          ${lookedAt} < ${ago(now, 1 / 60)}::timestamptz and exists (
            select from requests q
            where q.org_id = p.org_id and q.session = p.session and q.started_at > f.seen_at - interval '10 minutes')) end
      and ${free(database, now)}
    order by f.seen_at nulls first, p.merged_at desc, p.repository_id, p.number
    limit ${DUE_MAX}`;
  return rows.map((row) => ({
    ...placeOf(row),
    link: row.link,
    session: row.session,
    sharedBy: row.shared_by,
  }));
}
