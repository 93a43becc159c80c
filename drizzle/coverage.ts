import { sql } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import { type CoverageEvent, type CoverageWindow, coverageWindows } from "#shared/coverage.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

/** A repository that the App has or had access to, and how far its pull requests were read. */
export type RepositoryCoverage = {
  id: number;
  fullName: string;
  formerNames: string[];
  installationId: number | null;
  account: string | null;
  /** Its installation's permissions, e.g. `{"checks": "write"}`; null: unknown. */
  permissions: Record<string, string> | null;
  /** Whether the App sees it now. */
  covered: boolean;
  windows: CoverageWindow[];
  pullRequests: number;
  merged: number;
  joined: number;
  pass: {
    phase: "idle" | "pulls" | "reviews";
    pulls: number;
    reviews: number;
    /** All changes up to this time were read; null: no pass has completed. */
    readUpTo: string | null;
    finishedAt: string | null;
    dueAt: string;
    failure: string | null;
  } | null;
};

export type CoveragePage = { limit: number; after: number };

type Row = Omit<RepositoryCoverage, "id" | "installationId" | "windows"> & {
  id: string;
  installationId: string | null;
  events: { at: string; installationId: number; kind: CoverageEvent["kind"] }[];
};

/** Repositories by id, those after `after`. */
export async function readCoverage(
  db: PgDatabase<PgQueryResultHKT>,
  { limit, after }: CoveragePage,
): Promise<RepositoryCoverage[]> {
  const rows = (await db.execute(sql`
    select r.id, r.full_name as "fullName", r.former_names as "formerNames", r.installation_id as "installationId",
      i.account_login as account, i.permissions, r.covered and coalesce(i.state, 'active') = 'active' as covered,
      coalesce(e.events, '[]'::jsonb) as events, n.pull_requests as "pullRequests", n.merged, n.joined,
      case when g.repository_id is null then null else jsonb_build_object('phase', g.phase, 'pulls', g.pulls,
        'reviews', g.reviews, 'readUpTo', g.watermark, 'finishedAt', g.finished_at, 'dueAt', g.due_at,
        'failure', g.failure) end as pass
    from repositories r
    left join installations i on i.org_id = r.org_id and i.id = r.installation_id
    left join github_passes g on g.org_id = r.org_id and g.repository_id = r.id
    cross join lateral (
      select count(*)::integer as pull_requests,
        (count(*) filter (where p.state = 'merged'))::integer as merged,
        (count(*) filter (where p.link = 'joined'))::integer as joined
      from pull_requests p where p.org_id = r.org_id and p.repository_id = r.id
    ) n
    left join lateral (
      select jsonb_agg(jsonb_build_object('at', c.at, 'installationId', c.installation_id, 'kind', c.kind)) as events
      from coverage_changes c
      where c.org_id = r.org_id and (c.repository_id = r.id or (c.repository_id = 0 and c.installation_id in (
        select o.installation_id from coverage_changes o where o.org_id = r.org_id and o.repository_id = r.id)))
    ) e on true
    where r.org_id = ${DEFAULT_ORG} and r.id > ${after}::bigint
    order by r.id limit ${limit}`)) as unknown as Row[];
  return rows.map(coverageOf);
}

const instant = (text: string): string => new Date(text).toISOString();
const instantOrNull = (text: string | null): string | null => text && instant(text);

const coverageOf = ({ events, pass, ...row }: Row): RepositoryCoverage => ({
  ...row,
  id: Number(row.id),
  installationId: row.installationId === null ? null : Number(row.installationId),
  windows: coverageWindows(events.map((it) => ({ ...it, at: instant(it.at) }))),
  pass: pass && {
    ...pass,
    readUpTo: instantOrNull(pass.readUpTo),
    finishedAt: instantOrNull(pass.finishedAt),
    dueAt: instant(pass.dueAt),
  },
});
