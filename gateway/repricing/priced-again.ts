import { and, eq, getTableColumns, gt, gte, isNotNull, lt, not, or, type SQL, sql } from "drizzle-orm";
import type { Runner } from "#drizzle/database.ts";
import { given, ours } from "#drizzle/ours.ts";
import { batches } from "#drizzle/schema/batches.ts";
import type { ChangeReason } from "#drizzle/schema/history.ts";
import { requests } from "#drizzle/schema/records.ts";
import type { RepriceKind } from "#drizzle/schema/reprice-jobs.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { keysOf, picked } from "#shared/keys-of.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { words } from "#shared/words.ts";
import { quarterSql } from "../reports/rollup/kinds.ts";
import type { Reader } from "../stores/change.ts";
import { monthSpan } from "../stores/periods.ts";
import { withStoreErrors } from "../stores/store-errors.ts";

/** Which records a job prices. Times are RFC 3339 and half-open, `from` ≤ start < `to`. */
export type Selection = {
  kind: RepriceKind;
  from: string;
  to: string;
  provider: string | null;
  model: string | null;
};

/**
 * Records of the window that a provider answered, outside closed months: those without a price, or, to restate them, all
 * whose cost comes from counts or from the provider.
 */
function isSelected(
  { kind, from, to, provider, model }: Selection,
  closedMonths: readonly string[],
): SQL | undefined {
  return ours(
    requests,
    { ...given({ provider }), pending: null },
    gte(requests.startedAt, from),
    lt(requests.startedAt, to),
    isNotNull(requests.provider),
    isNotNull(requests.model),
    kind === "reprice"
      ? requests.unpriced
      : or(requests.unpriced, isNotNull(requests.price), eq(requests.costBasis, "vendor")),
    model === null ? undefined : or(eq(requests.model, model), eq(requests.responseModel, model)),
    ...closedMonths.map(monthSpan).map((span) => not(inSpan(span))),
  );
}

const inSpan = (span: { from: string; to: string }): SQL =>
  sql`(${requests.startedAt} >= ${span.from} and ${requests.startedAt} < ${span.to})`;

/** How many records a job looks at, and their known cost. Of `reprice`: all without a price, and the cost of the window. */
export async function costOfSelection(
  reader: Reader,
  selection: Selection,
  closedMonths: readonly string[],
): Promise<{ records: number; costUsd: string }> {
  const isIt = isSelected(selection, closedMonths);
  const { from, to, kind } = selection;
  const [row] = await reader
    .select({
      records: sql<number>`count(*) filter (where ${kind === "restate" ? isIt : requests.unpriced})::integer`,
      costUsd: sql<string>`coalesce(sum(${requests.costUsd}), 0)::text`,
    })
    .from(requests)
    .where(kind === "restate" ? isIt : ours(requests, {}, inSpan({ from, to })));
  return row ?? { records: 0, costUsd: "0" };
}

const all = getTableColumns(requests);
const usage = picked(all, keysOf(NO_USAGE));

type RequestColumns = typeof requests.$inferSelect;

/** What a record cost. Null: unknown; of `costBasis`, the list. One that is `partial` is a lower bound. */
const cost = picked(
  all,
  words("costUsd tokenCostUsd costBasis listCostUsd discountedCostUsd unpriced partial price"),
);
export type RecordCost = Pick<RequestColumns, keyof typeof cost>;
const answer = picked(all, words("id startedAt channel responseModel serviceTier variant usageSource"));
const selected = {
  ...cost,
  ...answer,
  ...picked(all, ["provider", "model"]),
  team: sql<string>`coalesce(${requests.teams}[1], '')`,
  usage,
};

/** A record: its place, who answered, what was counted, and what it costs so far. */
export type RecordToPrice = RecordCost &
  Pick<RequestColumns, keyof typeof answer> & {
    provider: string;
    model: string;
    /** Empty: none. */
    team: string;
    usage: Usage;
  };

/** Records that are read and priced at once. */
const RECORDS_AT_ONCE = 500;

/** Selected records in the order of their ids, which is about that of time; `after` is the id of the last one before. */
export async function listSelected(
  reader: Reader,
  selection: Selection,
  { closedMonths, after }: { closedMonths: readonly string[]; after: string | null },
): Promise<RecordToPrice[]> {
  const rows = await reader
    .select(selected)
    .from(requests)
    .where(and(isSelected(selection, closedMonths), after === null ? undefined : gt(requests.id, after)))
    .orderBy(requests.id)
    .limit(RECORDS_AT_ONCE);
  // The conditions rule out rows without a provider or a model.
  return rows as RecordToPrice[];
}

/** `old`: the cost that it replaces. */
export type NewPrice = RecordCost & Pick<RecordToPrice, "id" | "startedAt"> & { oldCostUsd: string | null };

/**
 * Writes new costs over those that they replace; a record whose cost was changed meanwhile keeps it. The quarters of hours are
 * marked for rollups, and a batch has the cost of its record. Returns the ids of what it changed. Versions name the `actor`.
 */
export const applyPrices = (
  tx: Runner,
  prices: readonly NewPrice[],
  { actor, reason }: { actor: string; reason: ChangeReason },
): Promise<{ id: string }[]> =>
  withStoreErrors(async () => {
    await tx.execute(
      sql`select set_config('tallygate.actor', ${actor}, true), set_config('tallygate.reason', ${reason}, true)`,
    );
    return tx.execute<{ id: string }>(sql`
      with changed as (
      update ${requests} as record
      set cost_usd = priced."costUsd", token_cost_usd = priced."tokenCostUsd", price = priced."price",
        unpriced = priced."unpriced", cost_basis = priced."costBasis", list_cost_usd = priced."listCostUsd",
        partial = priced."partial", discounted_cost_usd = priced."discountedCostUsd"
      from json_to_recordset(${JSON.stringify(prices)}::text::json)
        as priced("id" uuid, "startedAt" timestamptz, "oldCostUsd" numeric, "costUsd" numeric, "tokenCostUsd" numeric,
          "costBasis" text, "listCostUsd" numeric, "discountedCostUsd" numeric, "price" jsonb, "unpriced" boolean, "partial" boolean)
      where record.org_id = ${DEFAULT_ORG} and record.id = priced."id" and record.started_at = priced."startedAt"
        and record.cost_usd is not distinct from priced."oldCostUsd"
      returning record.*
      ), batched as (
        update ${batches} as batch set cost_usd = changed.cost_usd, cost_basis = coalesce(changed.cost_basis, 'interactive'),
          discounted_cost_usd = changed.discounted_cost_usd, partial = changed.partial
        from changed where changed.channel = 'batch' and batch.org_id = changed.org_id and batch.key_id = changed.key_id
          and batch.started_at = changed.started_at and batch.record_id = changed.id
      ), marked as (
        insert into rollup_marks (org_id, hour, id)
        select distinct org_id, ${sql.raw(quarterSql("started_at"))}, ${newId()}::text::uuid from changed
      )
      select id from changed`);
  });
