import { and, arrayContains, asc, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import { first, joinedOn, ours } from "#drizzle/ours.ts";
import { recordVersions } from "#drizzle/schema/history.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { type CostBasis, requests } from "#drizzle/schema/records.ts";
import { picked } from "#shared/keys-of.ts";
import { NONE } from "../reports/dimensions.ts";
import type { Reader } from "./change.ts";
import { inRecordScope, type RecordQuery, type RecordScope, recordConditions } from "./record-list.ts";

/** Whom a call `q` is charged to: its own team, without those above it, or its cost centre. */
export const CHARGED_TO = {
  team: `coalesce(q.teams[1], '${NONE}')`,
  cost_center: `coalesce(q.cost_center, '${NONE}')`,
} as const;

/** Columns that a list of records can be narrowed by, each to one exact value. */
export const REQUEST_FILTERS = {
  provider_request_id: requests.providerRequestId,
  ...picked(requests, ["session", "route", "model", "provider", "client", "owner"]),
  user: requests.userLabel,
  ...picked(requests, ["channel", "surface", "state"]),
  error_type: requests.errorType,
  error_cause: requests.errorCause,
  guardrail: requests.guardrail,
  service_tier: requests.serviceTier,
  direct_team: sql.raw(CHARGED_TO.team.replaceAll("q.", "requests.")),
  cost_center: sql.raw(CHARGED_TO.cost_center.replaceAll("q.", "requests.")),
} as const;

export type RequestQuery = RecordQuery<keyof typeof REQUEST_FILTERS> & {
  tag: string | null;
  /** HTTP status that the client received. */
  status: number | null;
  costBasis: CostBasis | null;
  unpriced: boolean | null;
  partial: boolean | null;
};

/** Where a cost comes from; a record with a price and nothing else said of it has the list's. */
const COST_BASIS = sql`coalesce(${requests.costBasis}, case when ${requests.price} is not null then 'list' end)`;

const { orgId: _, ...columns } = getTableColumns(requests);
const selected = { ...columns, keyName: keys.name };

const selectRequests = (reader: Reader) =>
  reader.select(selected).from(requests).leftJoin(keys, joinedOn(keys.id, requests.keyId)).$dynamic();

export type RecordRow = Awaited<ReturnType<typeof selectRequests>>[number];

/** Newest first: ids are made in order of time, so their index gives the order. */
export const listRequests = (reader: Reader, query: RequestQuery): Promise<RecordRow[]> =>
  selectRequests(reader)
    .where(and(...conditionsOf(query)))
    .orderBy(desc(requests.id))
    .limit(query.limit);

function* conditionsOf(query: RequestQuery): Generator<SQL> {
  yield* recordConditions({ of: requests, filters: REQUEST_FILTERS }, query);
  if (query.tag !== null) yield arrayContains(requests.tags, [query.tag]);
  if (query.status !== null) yield eq(requests.status, query.status);
  if (query.costBasis !== null) yield eq(COST_BASIS, query.costBasis);
  if (query.unpriced !== null) yield eq(requests.unpriced, query.unpriced);
  if (query.partial !== null) yield eq(requests.partial, query.partial);
}

export const findRequest = (reader: Reader, id: string, scope: RecordScope): Promise<RecordRow | null> =>
  first(selectRequests(reader).where(ours(requests, { id }, ...inRecordScope(scope, requests))));

export type VersionRow = typeof recordVersions.$inferSelect;

export const listVersions = (
  reader: Reader,
  { id, startedAt }: Pick<RecordRow, "id" | "startedAt">,
): Promise<VersionRow[]> =>
  reader
    .select()
    .from(recordVersions)
    .where(ours(recordVersions, { recordId: id, startedAt, absent: false }))
    .orderBy(asc(recordVersions.until));
