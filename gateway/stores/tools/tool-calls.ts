import { getTableColumns } from "drizzle-orm";
import { type ToolChannel, type ToolStatus, toolCalls } from "#drizzle/schema/tools.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";

/**
 * What one observer tells of a tool call at one moment. Sightings of the same call, from hooks and from the tool
 * gateway, become one row of `tool_calls` whatever their order and number (`MERGE` below):
 *
 * - `channel` is `mcp` once the tool gateway has seen the call, and what it tells of the call then counts; of its
 *   labels, those that are null or empty leave the hooks' to stand.
 * - The status is that of the highest `rank`, of several the latest: `pending` yields to everything, `unknown` by the
 *   end of a session or of 24 hours to everything that was seen, a hook's word to the tool gateway's.
 */
export type ToolObservation = {
  orgId: string;
  origin: string;
  externalId: string;
  id: string;
  /** Immutable for the tool gateway; of hooks the earliest counts. RFC 3339. */
  startedAt: string;
  channel: ToolChannel;
  status: ToolStatus;
  rank: number;
  decidedAt: string;
  keyId: string;
  owner: string | null;
  userLabel: string | null;
  client: string;
  session: string | null;
  tags: readonly string[];
  server: string | null;
  tool: string | null;
  latencyMs: number | null;
  costUsd: string | null;
  errorCode: string | null;
};

/** The end of a session: calls of it that were still pending then are unknown for ever, or until more is seen. */
export type SessionEnd = { orgId: string; origin: string; session: string; endedAt: string };

/** What `ToolObservation` is made from; times are of the clock that saw the call. */
export type ObservedCall = Omit<
  ToolObservation,
  "orgId" | "origin" | "externalId" | "id" | "rank" | "keyId" | "owner"
> & {
  key: { id: string; owner: string | null };
  /** The agent's own id of the call (`tool_use_id`), by which it is merged; null where it gave none. */
  externalId: string | null;
  /** Where it is not that of the channel. */
  rank?: number;
};

/**
 * Who decides a status; see `ToolObservation`. An agent's word that a call failed stands against its word that it ended:
 * Claude Code at times sends both of one call.
 */
export const RANK = { pending: 0, closed: 1, hook: 2, failure: 3, mcp: 4 } as const;

const EXTERNAL_ID = /^[\x21-\x7e]{1,128}$/;

/** An agent's id of a call, as it is kept: 1 to 128 printable characters of ASCII. Any other counts as none. */
export const readExternalId = (text: string | null): string | null =>
  text !== null && EXTERNAL_ID.test(text) ? text : null;

/** Within whom an agent's ids of calls are unique: two keys of one person may see the same call. */
export const callOrigin = ({ id, owner }: { id: string; owner: string | null }): string => owner ?? id;

/** A sighting with an id of its own. `id`, where given, is that of an earlier sighting of the same call without id. */
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
  };
}

/** How the recorder's spool tells these from rows of `requests`: its texts are JSON objects that begin so. */
const SIGHTING = '{"table":"tool_calls",';
const SESSION_END = '{"table":"tool_sessions",';

export const observationText = (sighting: ToolObservation): string =>
  JSON.stringify({ table: "tool_calls", ...sighting });
export const sessionEndText = (end: SessionEnd): string => JSON.stringify({ table: "tool_sessions", ...end });

/** Whether a text of the spool is one of the two. */
export const isToolText = (text: string): boolean =>
  text.startsWith(SIGHTING) || text.startsWith(SESSION_END);

/**
 * What writes texts of the spool to Postgres, each statement a JSON array of rows. A statement cannot touch a row
 * twice, so sightings of one call go into statements of their own. Every statement is safe to repeat.
 */
export function toolStatements(texts: readonly string[]): { text: string; values: string[] }[] {
  const rounds: string[][] = [];
  const seen = new Map<string, number>();
  for (const text of texts) {
    if (!text.startsWith(SIGHTING)) continue;
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

const quoted = (name: string) => `"${name}"`;

/** The tool gateway's value where it has seen the call and the other has not; between equals `among` decides. */
const led = (column: string, among: "least" | "greatest"): string =>
  `case when excluded.channel > c.channel then excluded.${column} when excluded.channel < c.channel then c.${column} ` +
  `else ${among}(c.${column}, excluded.${column}) end`;

/** The same, but what the tool gateway does not know leaves the hook's. */
const filled = (column: string, empty = "null"): string =>
  `case when excluded.channel > c.channel then coalesce(nullif(excluded.${column}, ${empty}), c.${column}) ` +
  `when excluded.channel < c.channel then coalesce(nullif(c.${column}, ${empty}), excluded.${column}) ` +
  `else greatest(c.${column}, excluded.${column}) end`;

const VERDICT = ["rank", "decided_at", "status", "latency_ms", "error_code"];

/** An order of all verdicts, so that two that differ never stand equal. */
const verdictOf = (row: string): string =>
  `(${row}.rank, ${row}.decided_at, ${row}.status, coalesce(${row}.latency_ms, -1), coalesce(${row}.error_code, ''))`;

const decided = (column: string): string =>
  `case when ${verdictOf("excluded")} > ${verdictOf("c")} then excluded.${column} else c.${column} end`;

/** Each is the least upper bound of an order, so that neither order nor repetition of sightings matters. */
const MERGED: Readonly<Record<string, string>> = {
  id: "least(c.id, excluded.id)",
  channel: "greatest(c.channel, excluded.channel)",
  started_at: led("started_at", "least"),
  key_id: led("key_id", "greatest"),
  client: led("client", "greatest"),
  cost_usd: led("cost_usd", "greatest"),
  owner: "coalesce(c.owner, excluded.owner)",
  user_label: filled("user_label"),
  session: filled("session"),
  server: filled("server"),
  tool: filled("tool"),
  tags: filled("tags", "'{}'"),
  ...Object.fromEntries(VERDICT.map((column) => [column, decided(column)])),
};

function mergeStatement(): string {
  const columns = Object.entries(getTableColumns(toolCalls));
  const names = columns.map(([, column]) => quoted(column.name));
  const values = columns.map(([member]) => `r.${quoted(member)}`);
  const types = columns.map(([member, column]) => `${quoted(member)} ${column.getSQLType()}`);
  const merged = Object.entries(MERGED).map(([column, value]) => `${quoted(column)} = ${value}`);
  return (
    `insert into tool_calls as c (${names.join(", ")}) select ${values.join(", ")} ` +
    `from json_to_recordset($1::text::json) as r(${types.join(", ")}) ` +
    // In one order, so that two replicas with the same calls wait for each other and never in a ring.
    'order by r."orgId", r."origin", r."externalId" ' +
    `on conflict (org_id, origin, external_id) do update set ${merged.join(", ")}`
  );
}

const MERGE = mergeStatement();

/** A call that nobody saw end took nobody knows how long. */
const CLOSED = `status = 'unknown', rank = ${RANK.closed}, latency_ms = null, error_code = null`;

const CLOSE = `update tool_calls c set ${CLOSED}, decided_at = r."endedAt"
from json_to_recordset($1::text::json) as r("orgId" text, origin text, session text, "endedAt" timestamptz)
where c.org_id = r."orgId" and c.origin = r.origin and c.session = r.session and c.started_at <= r."endedAt"
  and c.status = 'pending'`;

/** The parameter is the time before which a call that is still pending has begun. */
export const CLOSE_STALE = `update tool_calls set ${CLOSED}, decided_at = now()
where status = 'pending' and started_at < $1::text::timestamptz`;
