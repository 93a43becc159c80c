import { jsonRows } from "#drizzle/json-rows.ts";
import { toolCalls } from "#drizzle/schema/tools.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { ClientKey } from "../../directory.ts";

/**
 * One observation of a tool call. Observations of the same call, from hooks and from the tool gateway, are merged into
 * one row of `tool_calls`, whatever their order and number (`MERGE` below):
 *
 * - `channel` is `mcp` once the tool gateway has observed the call; its values then win. Labels that it leaves null or
 *   empty keep the hooks' values.
 * - The status with the highest `rank` wins, the latest among equals: `pending` has the lowest rank, then `unknown` (the
 *   session ended, or 24 hours passed), then a status from hooks, then one from the tool gateway.
 */
export type ToolObservation = typeof toolCalls.$inferSelect;

/** The end of a session: calls still pending then stay unknown, unless another observation arrives. */
export type SessionEnd = { orgId: string; origin: string; session: string; endedAt: string };

/** What `ToolObservation` is made from; times are of the clock that saw the call. */
export type ObservedCall = Omit<
  ToolObservation,
  "orgId" | "origin" | "externalId" | "id" | "rank" | "keyId" | "owner" | "teams" | "costCenter"
> & {
  key: Pick<ClientKey, "id" | "owner" | "teams" | "costCenter">;
  /** The agent's own id of the call (`tool_use_id`), by which it is merged; null where it gave none. */
  externalId: string | null;
  /** Where it is not that of the channel. */
  rank?: number;
};

/** Precedence of statuses (`ToolObservation`). A failure outranks an end: Claude Code may report both for one call. */
export const RANK = { pending: 0, closed: 1, hook: 2, failure: 3, mcp: 4 } as const;

const EXTERNAL_ID = /^[\x21-\x7e]{1,128}$/;

/** An agent's id for a call, if it can be stored: 1 to 128 printable ASCII characters. Any other id counts as missing. */
export const readExternalId = (text: string | null): string | null =>
  text !== null && EXTERNAL_ID.test(text) ? text : null;

/** Agents' call ids are unique per owner: two keys of one person may observe the same call. */
export const callOrigin = ({ id, owner }: { id: string; owner: string | null }): string => owner ?? id;

/** An observation with a new id, or with the `id` of an earlier observation of the same call that had no external id. */
export function toolObservation(
  { key, externalId, rank, ...seen }: ObservedCall,
  id = newId(),
): ToolObservation {
  return {
    ...seen,
    orgId: DEFAULT_ORG,
    origin: callOrigin(key),
    externalId: readExternalId(externalId) ?? id,
    id,
    rank: seen.status === "pending" ? RANK.pending : (rank ?? RANK[seen.channel]),
    keyId: key.id,
    owner: key.owner,
    teams: key.teams,
    costCenter: key.costCenter,
  };
}

/** Prefixes by which the recorder's spool distinguishes these JSON objects from rows of `requests`. */
const SIGHTING = '{"table":"tool_calls",';
const SESSION_END = '{"table":"tool_sessions",';

export const observationText = (sighting: ToolObservation): string =>
  JSON.stringify({ table: "tool_calls", ...sighting });
export const sessionEndText = (end: SessionEnd): string => JSON.stringify({ table: "tool_sessions", ...end });

/** Whether a text of the spool is one of the two. */
export const isToolText = (text: string): boolean =>
  text.startsWith(SIGHTING) || text.startsWith(SESSION_END);

/** Statements that write texts of the spool, safe to repeat. Sightings of one call need statements of their own. */
export function toolStatements(texts: readonly string[]): { text: string; values: string[] }[] {
  const rounds: string[][] = [];
  const seen = new Map<string, number>();
  for (const text of texts) {
    if (!text.startsWith(SIGHTING)) continue;
    // `observationText` wrote every text with this prefix.
    const { orgId, origin, externalId } = JSON.parse(text) as ToolObservation;
    const call = JSON.stringify([orgId, origin, externalId]);
    const round = seen.get(call) ?? 0;
    seen.set(call, round + 1);
    const rows = rounds[round] ?? [];
    rows.push(text);
    rounds[round] = rows;
  }
  const ends = texts.filter((text) => text.startsWith(SESSION_END));
  const statement = (text: string, rows: readonly string[]) => ({ text, values: [`[${rows.join(",")}]`] });
  return [
    ...rounds.map((rows) => statement(MERGE, rows)),
    ...(ends.length > 0 ? [statement(CLOSE, ends)] : []),
  ];
}

/** The tool gateway's value where it has seen the call and the other has not; between equals `among` decides. */
const led = (column: string, among: "least" | "greatest"): string =>
  `case when excluded.channel > c.channel then excluded.${column} when excluded.channel < c.channel then c.${column} ` +
  `else ${among}(c.${column}, excluded.${column}) end`;

/** The same, but what the tool gateway does not know leaves the hook's. */
const filled = (column: string, empty = "null"): string =>
  `case when excluded.channel > c.channel then coalesce(nullif(excluded.${column}, ${empty}), c.${column}) ` +
  `when excluded.channel < c.channel then coalesce(nullif(c.${column}, ${empty}), excluded.${column}) ` +
  `else greatest(c.${column}, excluded.${column}) end`;

const VERDICT = ["rank", "decided_at", "status", "latency_ms", "error_code", "error_cause"];

/** A total order of verdicts: no two different ones are equal. */
const verdictOf = (row: string): string =>
  `(${row}.rank, ${row}.decided_at, ${row}.status, coalesce(${row}.latency_ms, -1), coalesce(${row}.error_code, ''), coalesce(${row}.error_cause, ''))`;

const decided = (column: string): string =>
  `case when ${verdictOf("excluded")} > ${verdictOf("c")} then excluded.${column} else c.${column} end`;

/** Each is the least upper bound of an order, so that neither order nor repetition of observations matters. */
const MERGED: Readonly<Record<string, string>> = {
  id: "least(c.id, excluded.id)",
  channel: "greatest(c.channel, excluded.channel)",
  started_at: led("started_at", "least"),
  key_id: led("key_id", "greatest"),
  client: led("client", "greatest"),
  cost_usd: led("cost_usd", "greatest"),
  owner: "coalesce(c.owner, excluded.owner)",
  // Of the observation with the lead, as the key is.
  teams: led("teams", "greatest"),
  cost_center: led("cost_center", "greatest"),
  user_label: filled("user_label"),
  session: filled("session"),
  server: filled("server"),
  tool: filled("tool"),
  tags: filled("tags", "'{}'"),
  guardrail: filled("guardrail"),
  ...Object.fromEntries(VERDICT.map((column) => [column, decided(column)])),
};

function mergeStatement(): string {
  const { columns, values, types } = jsonRows(toolCalls);
  const merged = Object.entries(MERGED).map(([column, value]) => `"${column}" = ${value}`);
  return (
    // In one statement, so that a cost is seen either as reserved or as spent (`key_spend`, by a trigger of the table).
    'with asked as (select * from json_to_recordset($1::text::json) as r("orgId" text, id uuid)), ' +
    'released as (delete from limit_holds where org_id = any(array(select distinct "orgId" from asked)) ' +
    "and call_id = any(array(select id from asked))) " +
    `insert into tool_calls as c (${columns}) select ${values} ` +
    `from json_to_recordset($1::text::json) as r(${types}) ` +
    // In a fixed order, so that replicas with the same calls cannot deadlock.
    'order by r."orgId", r."origin", r."externalId" ' +
    `on conflict (org_id, origin, external_id) do update set ${merged.join(", ")}`
  );
}

const MERGE = mergeStatement();

/** The latency of a call without an observed end is unknown. */
const CLOSED = `status = 'unknown', rank = ${RANK.closed}, latency_ms = null, error_code = null, error_cause = null`;

const CLOSE = `update tool_calls c set ${CLOSED}, decided_at = r."endedAt"
from json_to_recordset($1::text::json) as r("orgId" text, origin text, session text, "endedAt" timestamptz)
where c.org_id = r."orgId" and c.origin = r.origin and c.session = r.session and c.started_at <= r."endedAt"
  and c.status = 'pending'`;

/** Closes pending calls that began before the parameter. */
export const CLOSE_STALE = `update tool_calls set ${CLOSED}, decided_at = now()
where status = 'pending' and started_at < $1::text::timestamptz`;
