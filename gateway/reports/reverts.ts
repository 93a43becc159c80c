import type { Query } from "./plan.ts";

/** A merged pull request that says it reverts another; both as `repository id#number`. */
export type Revert = { reverter: string; original: string };

/**
 * Every revert that merged pull requests tell of, the latest merge first. Of the evidence that a pull request gives, the
 * first of these that names a known merge counts: its body's `Reverts #N`, its branch `revert-N-…`, a commit sha
 * (DECISIONS.md, reverts). It names its own repository, under its present or a former name, and an earlier merge.
 */
export const revertsQuery = (orgId: string): Query => ({
  text: `with reverters as (
  select r.org_id, r.repository_id, r.number, r.merged_at, r.reverts_by_branch, r.reverts_by_body, r.reverts_by_sha,
    lower(p.full_name) as full_name, lower(p.former_names::text)::jsonb as former_names
  from pull_requests r
  left join repositories p on p.org_id = r.org_id and p.id = r.repository_id
  where r.org_id = $1::text and r.merged_at is not null and (r.reverts_by_branch is not null
    or jsonb_array_length(r.reverts_by_body) > 0 or cardinality(r.reverts_by_sha) > 0)
), named as (
  select r.repository_id, r.number, r.merged_at, b.number::numeric as original, null::text as sha, 1 as rule
  from reverters r
  cross join lateral jsonb_to_recordset(r.reverts_by_body) as b(repository text, number numeric)
  where b.repository is null or lower(b.repository) = r.full_name or r.former_names ? lower(b.repository)
  union all
  select repository_id, number, merged_at, reverts_by_branch, null, 2 from reverters
  union all
  select r.repository_id, r.number, r.merged_at, null, s.sha, 3
  from reverters r cross join lateral unnest(r.reverts_by_sha) as s(sha)
), known as (
  select n.repository_id, n.number, n.merged_at, o.number as original,
    rank() over (partition by n.repository_id, n.number order by n.rule) as place
  from named n
  join pull_requests o on o.org_id = $1::text and o.repository_id = n.repository_id
    and (o.number = n.original or o.merge_commit_sha = n.sha)
    and (o.merged_at, o.number) < (n.merged_at, n.number)
)
select repository_id || '#' || number as reverter, repository_id || '#' || original as original
from known where place = 1
order by merged_at desc, number desc`,
  params: [orgId],
});

/**
 * The pull requests that are reverted now: a merged one reverts them that is not itself reverted. Takes the latest merge
 * first, so that whether a reverter still stands is known before it counts.
 */
export function revertedBy(reverts: Iterable<Revert>): string[] {
  const reverted = new Set<string>();
  for (const { reverter, original } of reverts) if (!reverted.has(reverter)) reverted.add(original);
  return [...reverted];
}
