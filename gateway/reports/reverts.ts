import type { Spec } from "#shared/report.ts";
import type { AnswerRow } from "./assemble.ts";
import type { Query } from "./parameters.ts";

/** A merged pull request that says it reverts another; both as `repository id#number`. */
export type Revert = { reverter: string; original: string };

/** What says so, the first that names a known merge before the others. */
type RevertsQuery = Query & { params: readonly string[] };

const REVERT_RULES = ["body", "branch", "body_sha", "commit_sha"] as const;

/**
 * Every revert among merged pull requests, or those of one repository, the latest merge first, with its `rule`.
 * Of the evidence that a pull request gives, the first of these that names a known merge counts: its body's `Reverts
 * #N`, its branch `revert-N-…`, a commit sha in its body, a commit sha in its commits. It names its own repository,
 * under its present or a former name, and an earlier merge. A commit that is itself another merge counts for that merge.
 */
export const revertsQuery = (orgId: string, repositoryId: number | null = null): RevertsQuery => ({
  text: `with reverters as (
  select r.org_id, r.repository_id, r.number, r.merged_at, r.reverts_by_branch, r.reverts_by_body, r.reverts_by_sha,
    c.claims, lower(p.full_name) as full_name, lower(p.former_names::text)::jsonb as former_names
  from pull_requests r
  left join repositories p on p.org_id = r.org_id and p.id = r.repository_id
  left join pull_request_commits c
    on c.org_id = r.org_id and c.repository_id = r.repository_id and c.number = r.number and c.claims <> '[]'::jsonb
  where r.org_id = $1::text and r.merged_at is not null${repositoryId === null ? "" : " and r.repository_id = $2::bigint"}
    and (r.reverts_by_branch is not null or jsonb_array_length(r.reverts_by_body) > 0
      or cardinality(r.reverts_by_sha) > 0 or c.claims is not null)
), by_number as (
  select r.repository_id, r.number, r.merged_at, b.number::numeric as original, 1 as rule
  from reverters r
  cross join lateral jsonb_to_recordset(r.reverts_by_body) as b(repository text, number numeric)
  where b.repository is null or lower(b.repository) = r.full_name or r.former_names ? lower(b.repository)
  union all
  select repository_id, number, merged_at, reverts_by_branch, 2 from reverters where reverts_by_branch is not null
), by_sha as (
  select r.repository_id, r.number, r.merged_at, s.sha, null as commit, 3 as rule
  from reverters r cross join lateral unnest(r.reverts_by_sha) as s(sha)
  union all
  select r.repository_id, r.number, r.merged_at, c.reverts, c.commit, 4
  from reverters r cross join lateral jsonb_to_recordset(r.claims) as c(commit text, reverts text)
), named as (
  select n.repository_id, n.number, n.merged_at, n.rule, o.number as original, o.merged_at as original_at
  from by_number n
  join pull_requests o on o.org_id = $1::text and o.repository_id = n.repository_id and o.number = n.original
  union all
  select n.repository_id, n.number, n.merged_at, n.rule, o.number, o.merged_at
  from by_sha n
  join pull_requests o on o.org_id = $1::text and o.repository_id = n.repository_id and o.merge_commit_sha = n.sha
  where not exists (
    select from pull_requests m where m.org_id = $1::text and m.repository_id = n.repository_id
      and m.merge_commit_sha = n.commit and m.number <> n.number and m.merged_at is not null)
), known as (
  select *, rank() over (partition by repository_id, number order by rule) as place
  from named where (original_at, original) < (merged_at, number)
)
select distinct repository_id || '#' || number as reverter, repository_id || '#' || original as original,
  (array['${REVERT_RULES.join("', '")}'])[rule] as rule, merged_at, number
from known where place = 1
order by merged_at desc, number desc`,
  params: repositoryId === null ? [orgId] : [orgId, String(repositoryId)],
});

/** Pull requests reverted now: by a merge that is not reverted itself. The latest comes first, so that this is known. */
export function revertedBy(reverts: Iterable<Revert>): string[] {
  const reverted = new Set<string>();
  for (const { reverter, original } of reverts) if (!reverted.has(reverter)) reverted.add(original);
  return [...reverted];
}

/** The pull requests that are reverted now, from the rows of `revertsQuery`. */
export const revertedOf = (rows: readonly AnswerRow[]): string[] =>
  revertedBy(rows.map((row) => ({ reverter: row["reverter"] ?? "", original: row["original"] ?? "" })));

/** Whether a report counts pull requests that are reverted. */
export const needsReverts = ({ measures }: Spec): boolean =>
  measures.some((measure) => ["reverted_prs", "revert_rate", "reverted_cost_usd"].includes(measure));
