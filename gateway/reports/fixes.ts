import { nameSql } from "#drizzle/contexts.ts";
import { isOfTask } from "#drizzle/session-links.ts";
import type { Ask } from "./context.ts";
import type { Parameters } from "./parameters.ts";

/** When each merged pull request, or each session that one names, was first reviewed by another person than its author. */
export const firstReviews = (org: string, by = `${nameSql("q")} as pull_request`): string => `
      select ${by}, min(v.submitted_at) as at from pull_requests q
      join reviews v on v.org_id = q.org_id and v.repository_id = q.repository_id and v.number = q.number
      where q.org_id = ${org} and q.merged_at is not null and q.link in ('joined', 'unknown_session')
        and lower(coalesce(v.reviewer_login, '')) <> lower(coalesce(q.author_login, ' '))
      group by 1`;

/** What calls cost after the first review of a task's pull request by another person than its author. */
export function fixTables({ engine, reach }: Ask, params: Parameters, org: string): string {
  const once = engine.table(true);
  const columns = "session, owner, key_id, channel, cost_usd";
  const calls = (table: string, at: string, within: string) =>
    `select ${columns}, ${at} as at from ${table} where org_id = ${org} and ${within}
        and session in (select n.session from named n join reviewed w on w.task = n.task)`;
  const rawFrom = reach?.rawFromMs == null ? null : params.instant(reach.rawFromMs);
  const single = calls(engine.callsBySession, "started_at", rawFrom ? `started_at >= ${rawFrom}` : "true");
  const sums = rawFrom ? `\n        union all ${calls("rollup_hours", "hour", `hour < ${rawFrom}`)}` : "";
  return `,
    reviewed as ${once}(${firstReviews(org, "q.session as task")}
    ),
    fixes as ${once}(
      select n.task as task, sum(c.cost_usd) as cost_usd from (
        ${single}${sums}
      ) c join named n on n.session = c.session join reviewed w on w.task = n.task
      where ${isOfTask} and c.at >= w.at and c.channel <> 'subscription'
      group by n.task
    )`;
}
