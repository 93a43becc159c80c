import { desc, gte, ne, type SQL, sql } from "drizzle-orm";
import { ours } from "#drizzle/ours.ts";
import { requests } from "#drizzle/schema/records.ts";
import type { Reader } from "../stores/change.ts";
import type { RecordToPrice } from "./priced-again.ts";

export type UnpricedModel = Pick<RecordToPrice, "serviceTier" | "responseModel"> & {
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
  const { channel, provider, model, responseModel, serviceTier, startedAt, usageSource } = requests;
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
    .where(ours(requests, {}, gte(startedAt, from), requests.unpriced, ne(channel, "subscription")))
    .groupBy(provider, model, responseModel, serviceTier, metered)
    .orderBy(desc(calls), provider, model, responseModel)
    .limit(MODELS_MAX);
  return rows.map((row) => ({ ...row, firstSeen: String(row.firstSeen), lastSeen: String(row.lastSeen) }));
}
