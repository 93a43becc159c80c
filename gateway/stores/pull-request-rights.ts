import { inArray, isNotNull, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { pullRequests } from "#drizzle/schema/github.ts";
import { people } from "#drizzle/schema/identity.ts";
import {
  type CostedPullRequest,
  mainOwners,
  pullRequestCosts,
  pullRequestName,
  type SessionCost,
  sessionCalls,
} from "#drizzle/session-cost.ts";
import { isAllowed, makerOf } from "#drizzle/session-links.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { teamLookup } from "./directory/team-lookup.ts";
import type { RecordScope } from "./record-list.ts";
import { allTeams } from "./teams.ts";

/** The viewer's part of the records, with the GitHub accounts of the people in it; null: everything. */
export type PullRequestScope = { records: NonNullable<RecordScope>; logins: readonly string[] } | null;

type Db = Database["db"];

/** With the accounts of the viewer, or of the people of the viewer's team and the teams below. */
export async function pullRequestScope(db: Db, records: RecordScope): Promise<PullRequestScope> {
  if (records === null) return null;
  const are = "owner" in records ? { email: records.owner } : { team: await teamsIn(db, records.team) };
  const isOf = ours(people, are, isNotNull(people.githubLogin));
  const rows = await db.select({ login: people.githubLogin }).from(people).where(isOf);
  return { records, logins: rows.flatMap(({ login }) => login?.toLowerCase() ?? []) };
}

async function teamsIn(db: Db, team: string): Promise<string[]> {
  const rows = await allTeams(db);
  const lookup = teamLookup(rows);
  return rows.flatMap(({ name }) => (lookup(name).teams?.includes(team) ? [name] : []));
}

/** A pull request is there for its author and for whoever made calls that are part of it, and for their managers. */
export function* takesPart(scope: PullRequestScope): Generator<SQL> {
  if (scope === null) return;
  const own = sql`exists (select from ${sessionCalls} c where c.session = ${pullRequests.session} and ${isIn(scope.records)})`;
  const linked = sql`exists (
    select from session_links l join ${sessionCalls} c on c.session = l.session
    where l.org_id = ${pullRequests.orgId} and l.of_session = ${pullRequests.session} and l.counts
      and ${sql.raw(`${makerOf("c")} = l.declarer`)} and ${isIn(scope.records)} and ${sql.raw(isAllowed(`'${DEFAULT_ORG}'`))})`;
  const authored =
    scope.logins.length > 0 ? inArray(sql`lower(${pullRequests.authorLogin})`, [...scope.logins]) : undefined;
  const took = or(authored, own, linked);
  if (took) yield took;
}

/** Whether a call `c` is in the scope, as `inRecordScope` says of records. */
const isIn = (records: NonNullable<RecordScope>): SQL =>
  "owner" in records
    ? sql`lower(c.owner) = ${records.owner}`
    : sql`c.teams @> array[${records.team}]::text[]`;

/** What a viewer sees of a pull request: all of it, or the cost of their part of its calls. */
export type PullRequestShare = { whole: boolean; cost: SessionCost | null };

type Shared = CostedPullRequest & { authorLogin: string | null; isClaim: boolean };

/**
 * What the viewer sees of each pull request. The author, unless it is a claim, the owner of more than half of its calls, and their managers see
 * all of it; others who took part see their own part: a session id is a label, and using one gives no rights.
 */
export async function pullRequestShares(
  db: Db,
  scope: PullRequestScope,
  rows: readonly Shared[],
): Promise<(row: Shared) => PullRequestShare> {
  const costs = await pullRequestCosts(db, rows);
  const costOf = (row: Shared) => costs.get(pullRequestName(row)) ?? null;
  if (scope === null) return (row) => ({ whole: true, cost: costOf(row) });
  const { records, logins } = scope;
  const parts = await pullRequestCosts(db, rows, isIn(records));
  const owners = await mainOwners(db, rows, isIn(records));
  return (row) => {
    const isAuthor = row.authorLogin !== null && logins.includes(row.authorLogin.toLowerCase());
    const whole = (isAuthor && !row.isClaim) || owners.has(pullRequestName(row));
    return { whole, cost: whole ? costOf(row) : (parts.get(pullRequestName(row)) ?? null) };
  };
}
