import { and, arrayContains, desc, eq, getTableColumns, gte, lt, type SQL } from "drizzle-orm";
import { keys } from "#drizzle/schema/keys.ts";
import { requests } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "./change.ts";
import { equalTo } from "./equal-to.ts";
import { inRecordScope, type RecordScope } from "./record-scope.ts";
import type { Slice } from "./slice.ts";

/** Columns that a list of records can be narrowed by, each to one exact value. */
export const REQUEST_FILTERS = {
  provider_request_id: requests.providerRequestId,
  session: requests.session,
  route: requests.route,
  model: requests.model,
  provider: requests.provider,
  client: requests.client,
  owner: requests.owner,
  user: requests.userLabel,
  channel: requests.channel,
  surface: requests.surface,
  state: requests.state,
  error_type: requests.errorType,
  error_cause: requests.errorCause,
  guardrail: requests.guardrail,
} as const;
type RequestFilter = keyof typeof REQUEST_FILTERS;

export type RequestQuery = Slice & {
  equal: Partial<Record<RequestFilter, string>>;
  /** A key's name, or its id. */
  key: { name: string } | { id: string } | null;
  tag: string | null;
  /** The team, or one above it. */
  team: string | null;
  /** HTTP status that the client received. */
  status: number | null;
  /** RFC 3339; half-open, `from` ≤ start < `to`. */
  from: string | null;
  to: string | null;
  scope: RecordScope;
};

const { orgId: _, ...columns } = getTableColumns(requests);
const selected = { ...columns, keyName: keys.name };

const selectRequests = (reader: Reader) =>
  reader
    .select(selected)
    .from(requests)
    .leftJoin(keys, and(eq(keys.orgId, requests.orgId), eq(keys.id, requests.keyId)))
    .$dynamic();

export type RecordRow = Awaited<ReturnType<typeof selectRequests>>[number];

/** Newest first: ids are made in order of time, so their index gives the order. */
export const listRequests = (reader: Reader, query: RequestQuery): Promise<RecordRow[]> =>
  selectRequests(reader)
    .where(and(...conditionsOf(query)))
    .orderBy(desc(requests.id))
    .limit(query.limit);

function* conditionsOf({
  equal,
  key,
  tag,
  team,
  status,
  from,
  to,
  after,
  scope,
}: RequestQuery): Generator<SQL> {
  yield eq(requests.orgId, DEFAULT_ORG);
  yield* inRecordScope(scope, requests);
  yield* equalTo(REQUEST_FILTERS, equal);
  if (key) yield "id" in key ? eq(requests.keyId, key.id) : eq(keys.name, key.name);
  if (tag !== null) yield arrayContains(requests.tags, [tag]);
  if (team !== null) yield arrayContains(requests.teams, [team]);
  if (status !== null) yield eq(requests.status, status);
  if (from !== null) yield gte(requests.startedAt, from);
  if (to !== null) yield lt(requests.startedAt, to);
  if (after !== null) yield lt(requests.id, after);
}

export async function findRequest(reader: Reader, id: string, scope: RecordScope): Promise<RecordRow | null> {
  const isIt = and(eq(requests.orgId, DEFAULT_ORG), eq(requests.id, id), ...inRecordScope(scope, requests));
  const [row] = await selectRequests(reader).where(isIt);
  return row ?? null;
}
