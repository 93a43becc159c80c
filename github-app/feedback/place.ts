import { type SQL, sql } from "drizzle-orm";
import { isDue } from "#drizzle/leases/lease.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Settings } from "#shared/settings.ts";

/** A pull request on GitHub, or with number 0 a repository. */
export type FeedbackPlace = {
  repositoryId: number;
  number: number;
  owner: string;
  repo: string;
  installationId: number;
};

export type PlaceRow = { repository_id: string; number: number; full_name: string; installation_id: string };

export const placeOf = (row: PlaceRow): FeedbackPlace => {
  const [owner = "", repo = ""] = row.full_name.split("/");
  return {
    repositoryId: Number(row.repository_id),
    number: row.number,
    owner,
    repo,
    installationId: Number(row.installation_id),
  };
};

/** Joins the repository `r` of pull request `p`, where the App is installed and active. */
export const INSTALLED = sql`
  join repositories r on r.org_id = p.org_id and r.id = p.repository_id and r.covered
    and r.installation_id is not null and not exists (
      select from installations i where i.org_id = r.org_id and i.id = r.installation_id and i.state <> 'active')`;

/** How many merged pull requests name the session of pull request `p`, without claims. */
export const SHARED_BY = sql`(select count(*)::integer from pull_requests o
  where o.org_id = p.org_id and o.session = p.session and o.merged_at is not null and o.link <> 'claimed')`;

/** What limits a list of due work. */
export type DueIn = { settings: Settings; waiting: readonly number[] };

type Lists = Pick<Settings, "feedback_include" | "feedback_exclude">;

const isIn = (names: readonly string[]): SQL => {
  const list = sql`select lower(jsonb_array_elements_text(${JSON.stringify(names)}::jsonb))`;
  return sql`(lower(r.full_name) in (${list}) or lower(split_part(r.full_name, '/', 1)) || '/*' in (${list}))`;
};

/** Whether anything may be shown in the repository `r`. */
export const isShown = ({ feedback_exclude: names }: Lists): SQL => sql`not ${isIn(names)}`;

/** Whether costs and sessions may be shown there: in private repositories, and in public ones that are named. */
export const isConfidential = (lists: Lists): SQL =>
  sql`(${isShown(lists)} and (r.is_private is true or ${isIn(lists.feedback_include)}))`;

/** Condition on work `f` of pull request `p` in repository `r` that may be taken at `now`, outside `waiting` installations. */
export const isDueOf = (now: Date, waiting: readonly number[]): SQL =>
  sql`p.org_id = ${DEFAULT_ORG} and ${isDue("f", now)}
    and r.installation_id <> all(${`{${waiting.join()}}`}::text::bigint[])`;

export const hoursAgo = (now: Date, hours: number): SQL =>
  sql`${new Date(now.getTime() - hours * 3_600_000).toISOString()}::timestamptz`;
