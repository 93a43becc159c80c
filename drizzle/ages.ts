import { counted } from "#shared/plural.ts";
import { words } from "#shared/words.ts";

/**
 * How long rows of a table stay: `days`, by the database's clock, after `since`. `retention`: until the month of single
 * records that `since` lies in is dropped, so that a wrong setting takes one month of them a day, too. `since` and `only`
 * are SQL over the row `it`; it stays while `since` is null or `only` is false.
 */
export type Age = { days: number | "retention"; since: string; only?: Condition };
type Condition = { sql: string; words: string };
/** Why rows are not deleted by age, or what else deletes them. */
export type Reason = { kept: string };

const after = (days: Age["days"], since: string, only?: Condition): Age => ({
  days,
  since: `it.${since}`,
  ...(only && { only }),
});
const kept = (reason: string): Reason => ({ kept: reason });
const all = (reason: Reason, tables: string): Record<string, Reason> =>
  Object.fromEntries(words(tables).map((table) => [table, reason]));

const SET = kept("Administrators, people or directories make and delete it");
const SUMS = kept("Sums, which reports about any time read");
const MERGES = kept("Reports about merges reach back to the first one");
const FEW = kept("One small row for each thing that it names");
const LIMITS = kept("Deleted when it no longer counts, within minutes");
const COPIES = kept("Deleted when ClickHouse has the rows");

/** Hashed once for all rows. */
const UNNAMED = `not exists (
  select 1 from (select org_id, unnest(session_ids) as session from pull_requests) named
  where named.org_id = it.org_id and named.session = `;

/** Every table, with its age or the reason why it has none. */
export const AGES: Readonly<Record<string, Age | Reason>> = {
  requests: kept("Dropped by the month, as described above"),
  agent_points: after("retention", "ended_at"),
  batches: after("retention", "started_at", {
    sql: "it.reconciled_at is not null",
    words: "once its cost is recorded",
  }),
  dead_records: after("retention", "parked_at"),
  dropped_names: after("retention", "first_at"),
  session_links: after("retention", "declared_at", {
    sql: `${UNNAMED} it.of_session)`,
    words: "unless a pull request names the task",
  }),
  session_agents: kept("Deleted with the last single record of its session, unless a pull request counts it"),
  tool_calls: after("retention", "started_at"),
  // A vendor's copy keeps its owner here until the vendor has deleted it.
  files: { days: 30, since: "least(it.deleted_at, it.expires_at)" },

  audit_entries: after(400, "at"),
  digests: after(400, "due_at", { sql: "it.state <> 'waiting'", words: "once it is sent" }),
  github_feedback: {
    days: 90,
    since: `(select coalesce(p.merged_at, p.body_at) from pull_requests p where p.org_id = it.org_id
      and p.repository_id = it.repository_id and p.number = it.number and p.state <> 'open')`,
  },
  // Longer than any period of a budget.
  key_spend: after(92, "day"),
  // An alert reports a state again once it has not been found for this long at most.
  alert_states: after(100, "seen_at"),
  reprice_differences: after(90, "noted_at"),
  reprice_jobs: after(90, "finished_at"),
  record_versions: after("retention", "started_at"),
  periods: FEW,
  statements: kept("Statements of closed months are kept"),
  refresh_tokens: after(30, "key_expires_at"),
  device_sign_ins: after(1, "expires_at"),
  key_secrets: after(1, "expires_at"),
  person_sessions: after(1, "expires_at"),
  sign_in_verifications: after(1, "expires_at"),
  used_setup_links: after(1, "expires_at"),
  captured_bodies: kept("Deleted when the body expires, after 7 days"),
  kept_answers: kept("Deleted an hour after its last use"),
  refused_redeliveries: kept("The GitHub App deletes it once GitHub no longer lists the delivery"),
  waiting_merges: kept("The GitHub App deletes it 30 days after the merge"),
  webhook_inbox: kept("The GitHub App deletes it some days after it was applied"),

  ...all(MERGES, "coverage_changes pull_request_commits pull_requests repositories reviews"),
  ...all(MERGES, "session_contexts session_stretches"),
  session_places: kept("Replaced when a session's pull requests, links or contexts change"),
  session_marks: kept("Deleted when the session is judged, within seconds"),
  ...all(SUMS, "rollup_hours rollup_people rollup_sessions rollup_sums"),
  rollup_marks: kept("Deleted when its hour is summed"),
  limit_away: kept("Deleted after 30 days"),
  ...all(LIMITS, "limit_holders limit_holds limit_leases limit_rates"),
  ...all(COPIES, "clickhouse_marks clickhouse_moves"),
  ...all(FEW, "rollup_state limit_turns clickhouse_state directory_versions github_app_reports github_apps"),
  ...all(FEW, "github_passes github_tasks github_waits installations master_key_checks record_changes"),
  route_models: kept("The latest ones only"),
  ...all(FEW, "webhook_answers price_list_fetches"),

  ...all(SET, "admin_tokens alerts digest_webhooks guardrails budgets hook_policies mcp_servers providers"),
  ...all(SET, "role_mappings routes saved_reports scim_group_members scim_groups settings sign_in_accounts"),
  ...all(SET, "teams seats commitments vendor_accounts export_destinations"),
  ...all(kept("Records of its time are priced by it"), "discounts price_list_changes prices"),
  keys: kept("Records name it; a revoked one has no secrets"),
  people: kept("Records name them"),
  ...all(kept("Deleted with its vendor account"), "vendor_bill_days vendor_bill_lines"),
};

/** Deletes the agents' ids of sessions that have no record left. */
export const FORGET_AGENTS = `delete from session_agents it where ${UNNAMED} it.session) and not exists (
    select 1 from requests r where r.org_id = it.org_id and r.session = it.session)
  and not exists (select 1 from session_links l where l.org_id = it.org_id and l.session = it.session)
  and not exists (select 1 from session_links l where l.org_id = it.org_id and l.of_session = it.session)`;

/** How long rows stay, for readers. */
export function ageText(age: Age | Reason): string {
  if ("kept" in age) return age.kept;
  const term =
    age.days === "retention" ? "As long as the single records of its month" : counted(age.days, "day");
  return age.only === undefined ? term : `${term}, ${age.only.words}`;
}
