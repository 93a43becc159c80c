import { priceText } from "#drizzle/price-text.ts";
import { readEnd, readInstant } from "#shared/admin/fields.ts";
import type { RepriceBody, RepriceView } from "#shared/admin/prices.ts";
import { formatDecimal, parseDecimal, plus } from "#shared/decimal.ts";
import type { Directory } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { priceAnswer } from "../pricing/price-answer.ts";
import { priceBook } from "../pricing/price-book.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import {
  applyPrices,
  costOfWindow,
  listUnpriced,
  type NewPrice,
  type RecordWindow,
  type UnpricedRecord,
} from "../stores/reprice.ts";
import { type AdminDeps, awaitSettled, readDatabase } from "./deps.ts";

const BATCH = 500;

/** Prices the unpriced records of a window by the prices that were in force when each was made. */
export async function reprice(deps: AdminDeps, origin: Origin, body: RepriceBody): Promise<RepriceView> {
  const window = windowOf(body);
  const dryRun = body.dry_run ?? false;
  await awaitSettled(deps);
  const before = await readDatabase(deps, (db) => costOfWindow(db, window));
  const at = deps.clock.now();
  const price = pricing(deps.directory.current(), at);
  let repriced = 0;
  let cost = parseDecimal(before.costUsd);
  for await (const records of unpricedIn(deps, window)) {
    const priced = records.flatMap(price);
    const kept = dryRun || priced.length === 0 ? priced : await applyPrices(deps.database, priced);
    repriced += kept.length;
    cost = kept.reduce((sum, { costUsd }) => plus(sum, parseDecimal(costUsd)), cost);
  }
  const outcome = {
    dry_run: dryRun,
    ...window,
    unpriced_records: before.unpriced,
    repriced_records: repriced,
    old_cost_usd: formatDecimal(parseDecimal(before.costUsd)),
    new_cost_usd: formatDecimal(cost),
  };
  if (!dryRun && repriced > 0) await writeDown(deps, origin, outcome);
  return outcome;
}

/** The old sum and the new one outlast the answer. */
async function writeDown(deps: AdminDeps, origin: Origin, outcome: RepriceView): Promise<void> {
  const { from, to, repriced_records, old_cost_usd, new_cost_usd } = outcome;
  await audited(deps.database, origin, (_tx, audit) =>
    audit({
      action: "prices.repriced",
      subject: `${from} to ${to}`,
      before: { cost_usd: old_cost_usd },
      after: { cost_usd: new_cost_usd, repriced_records },
    }),
  );
}

async function* unpricedIn(deps: AdminDeps, window: RecordWindow): AsyncGenerator<UnpricedRecord[]> {
  let after: UnpricedRecord | undefined;
  do {
    const slice = { after: after ?? null, limit: BATCH };
    const records: UnpricedRecord[] = await readDatabase(deps, (db) => listUnpriced(db, window, slice));
    yield records;
    after = records.length === BATCH ? records.at(-1) : undefined;
  } while (after);
}

function windowOf({ from, to }: RepriceBody): RecordWindow {
  const fromMs = readInstant(from) ?? 0;
  const toMs = readEnd(to) ?? 0;
  if (fromMs >= toMs) throw new GatewayError("invalid_request", "/to: Expected a time after /from.");
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

/** Prices one record; nothing where it still has no price: no such price, no usage, or its provider was deleted. */
function pricing(directory: Directory, at: Date): (record: UnpricedRecord) => NewPrice[] {
  const book = priceBook(directory.prices, PROVIDERS);
  return (record) => {
    const provider = directory.providers.get(record.provider);
    if (!provider) return [];
    const { id, startedAt } = record;
    const answered = { ...record, provider, reportedCostUsd: null, at: new Date(startedAt) };
    const { costUsd, tokenCostUsd, price } = priceAnswer(book, answered);
    if (costUsd === null) return [];
    const repriced = price && priceText({ ...price, repricedAt: at.toISOString() });
    return [{ id, startedAt, costUsd, tokenCostUsd, price: repriced }];
  };
}
