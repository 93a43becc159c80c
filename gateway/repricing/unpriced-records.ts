import { and, desc, eq, gt, gte, isNotNull, lt, ne, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { priceText } from "#drizzle/price-text.ts";
import { type CostBasis, requests } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Usage } from "#shared/usage.ts";
import type { Directory } from "../directory.ts";
import { priceAnswer } from "../pricing/price-answer.ts";
import { priceBook } from "../pricing/price-book.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { quarterSql } from "../reports/rollup/kinds.ts";
import type { Reader } from "../stores/change.ts";
import { withStoreErrors } from "../stores/store-errors.ts";

/** RFC 3339; half-open, `from` ≤ start < `to`. */
export type RecordWindow = { from: string; to: string };

const inWindow = ({ from, to }: RecordWindow) =>
  and(eq(requests.orgId, DEFAULT_ORG), gte(requests.startedAt, from), lt(requests.startedAt, to));

/** Of a window: how many records have no price, and the known cost of all of them. */
export async function costOfWindow(
  reader: Reader,
  window: RecordWindow,
): Promise<{ unpriced: number; costUsd: string }> {
  const [row] = await reader
    .select({
      unpriced: sql<number>`count(*) filter (where ${requests.unpriced})::integer`,
      costUsd: sql<string>`coalesce(sum(${requests.costUsd}), 0)::text`,
    })
    .from(requests)
    .where(inWindow(window));
  return row ?? { unpriced: 0, costUsd: "0" };
}

const counts = {
  uncachedInputTokens: requests.uncachedInputTokens,
  cacheReadTokens: requests.cacheReadTokens,
  cacheWrite5mTokens: requests.cacheWrite5mTokens,
  cacheWrite1hTokens: requests.cacheWrite1hTokens,
  outputTokens: requests.outputTokens,
  reasoningTokens: requests.reasoningTokens,
  audioInputTokens: requests.audioInputTokens,
  audioOutputTokens: requests.audioOutputTokens,
  images: requests.images,
  characters: requests.characters,
  documents: requests.documents,
  searchUnits: requests.searchUnits,
  webSearches: requests.webSearches,
  imageInputTokens: requests.imageInputTokens,
  imageOutputTokens: requests.imageOutputTokens,
  searchSources: requests.searchSources,
  cacheReadAudioTokens: requests.cacheReadAudioTokens,
  fileSearches: requests.fileSearches,
} satisfies Record<keyof Usage, unknown>;

const selected = {
  id: requests.id,
  startedAt: requests.startedAt,
  provider: requests.provider,
  model: requests.model,
  responseModel: requests.responseModel,
  serviceTier: requests.serviceTier,
  variant: requests.variant,
  usage: counts,
};

/** A record without a price: its place, who answered, and what was counted. */
export type UnpricedRecord = {
  id: string;
  startedAt: string;
  provider: string;
  model: string;
  responseModel: string | null;
  serviceTier: string | null;
  variant: string | null;
  usage: Usage;
};

/** Unpriced records that are read and priced at once. */
export const RECORDS_AT_ONCE = 500;

/** Unpriced records of the window that a provider answered, in order of time; `after` is the last one of the part before. */
export async function listUnpriced(
  reader: Reader,
  window: RecordWindow,
  { after, limit }: { after: Pick<UnpricedRecord, "id" | "startedAt"> | null; limit: number },
): Promise<UnpricedRecord[]> {
  const rows = await reader
    .select(selected)
    .from(requests)
    .where(
      and(
        inWindow(window),
        requests.unpriced,
        isNotNull(requests.provider),
        isNotNull(requests.model),
        after ? isBehind(after) : undefined,
      ),
    )
    .orderBy(requests.startedAt, requests.id)
    .limit(limit);
  // The conditions rule out rows without a provider or a model.
  return rows as UnpricedRecord[];
}

const isBehind = ({ startedAt, id }: Pick<UnpricedRecord, "id" | "startedAt">): SQL | undefined =>
  or(gt(requests.startedAt, startedAt), and(eq(requests.startedAt, startedAt), gt(requests.id, id)));

export type NewPrice = {
  id: string;
  startedAt: string;
  costUsd: string;
  tokenCostUsd: string | null;
  /** Null: the list. */
  costBasis: CostBasis | null;
  listCostUsd: string | null;
  /** As it is stored. */
  price: string | null;
  /** It is a lower bound. */
  atLeast: boolean;
};

type Known = Pick<Directory, "prices" | "discounts" | "providers">;

/**
 * Prices one record by the prices that were in force when it was made; nothing where it still has no price: no such price,
 * no usage, or its provider was deleted. `at` is noted with the record as the time of pricing.
 */
export function pricing(directory: Known, at: Date): (record: UnpricedRecord) => NewPrice[] {
  const book = priceBook(directory.prices, PROVIDERS, directory.discounts);
  return (record) => {
    const provider = directory.providers.get(record.provider);
    if (!provider) return [];
    const { id, startedAt } = record;
    const answered = { ...record, provider, reportedCostUsd: null, at: new Date(startedAt) };
    const { costUsd, tokenCostUsd, price, atLeast = false, ...priced } = priceAnswer(book, answered);
    if (costUsd === null) return [];
    const { basis: costBasis = null, listCostUsd = null } = priced;
    const repriced = price && priceText({ ...price, repricedAt: at.toISOString() });
    return [{ id, startedAt, costUsd, tokenCostUsd, costBasis, listCostUsd, price: repriced, atLeast }];
  };
}

/**
 * Prices the records that are still unpriced; one that was priced meanwhile keeps its price. Their hours are marked for
 * rollups. Returns what it changed.
 */
export const applyPrices = (
  db: Pick<Database["db"], "execute">,
  prices: readonly NewPrice[],
): Promise<{ id: string; costUsd: string }[]> =>
  withStoreErrors(() =>
    db.execute<{ id: string; costUsd: string }>(sql`
      with changed as (
      update ${requests} as record
      set cost_usd = priced."costUsd", token_cost_usd = priced."tokenCostUsd", price = priced."price", unpriced = false,
        cost_basis = priced."costBasis", list_cost_usd = priced."listCostUsd", partial = record.partial or priced."atLeast"
      from json_to_recordset(${JSON.stringify(prices)}::text::json)
        as priced("id" uuid, "startedAt" timestamptz, "costUsd" numeric, "tokenCostUsd" numeric, "costBasis" text,
          "listCostUsd" numeric, "price" jsonb, "atLeast" boolean)
      where record.org_id = ${DEFAULT_ORG} and record.id = priced."id"
        and record.started_at = priced."startedAt" and record.unpriced
      returning record.org_id, record.started_at, record.id, record.cost_usd::text as cost
      ), marked as (
        insert into rollup_marks (org_id, hour, id)
        select distinct org_id, ${sql.raw(quarterSql("started_at"))}, ${newId()}::text::uuid from changed
      )
      select id, cost as "costUsd" from changed`),
  );

export type UnpricedModel = Pick<UnpricedRecord, "serviceTier" | "responseModel"> & {
  provider: string | null;
  model: string | null;
  /** The provider reported usage. */
  metered: boolean;
  requests: number;
  firstSeen: string;
  lastSeen: string;
};

const MODELS_MAX = 1000;

/** Models whose calls since `from` have no cost, those with the most calls first. */
export async function listUnpricedModels(reader: Reader, from: string): Promise<UnpricedModel[]> {
  const { provider, model, responseModel, serviceTier, startedAt, usageSource } = requests;
  const metered = sql<boolean>`${usageSource} <> 'none'`;
  const at = (time: SQL) => sql<Date>`${time}`.mapWith((text) => new Date(text).toISOString());
  const calls = sql<number>`count(*)::integer`;
  const rows = await reader
    .select({
      provider,
      model,
      responseModel,
      serviceTier,
      metered,
      requests: calls,
      firstSeen: at(sql`min(${startedAt})`),
      lastSeen: at(sql`max(${startedAt})`),
    })
    .from(requests)
    .where(
      and(
        eq(requests.orgId, DEFAULT_ORG),
        gte(startedAt, from),
        requests.unpriced,
        ne(requests.channel, "subscription"),
      ),
    )
    .groupBy(provider, model, responseModel, serviceTier, metered)
    .orderBy(desc(calls), provider, model, responseModel)
    .limit(MODELS_MAX);
  return rows.map((row) => ({ ...row, firstSeen: String(row.firstSeen), lastSeen: String(row.lastSeen) }));
}
