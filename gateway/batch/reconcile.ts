import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Settings } from "#shared/settings.ts";
import type { Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { isAnotherModel, priceAnswer } from "../pricing/price-answer.ts";
import { BATCH_TIER, STANDARD, tierOf } from "../pricing/tier.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { objectOf, type ProviderObject, parseObject } from "../providers/provider-json.ts";
import { WIRES } from "../providers/wires.ts";
import { UNPRICED } from "../reading.ts";
import { type BatchRow, markReconciled, reservedFor } from "../stores/batches.ts";
import { SURFACES, type SurfaceName, type WireName } from "../surface-facts.ts";
import { costColumns } from "./answers.ts";
import { type BatchDeps, providerNamed } from "./deps.ts";
import { isBlankLine, lineSplitter } from "./line-splitter.ts";
import { lineSurface } from "./resolve.ts";
import { type BatchTotals, batchTally } from "./tally.ts";

/** Recorded as the route or model of a batch whose requests name more than one. */
const SEVERAL = "(several)";
const DIRECT = "(direct)";

/** Time limit for reading a batch's results. */
const RESULTS_MAX_MS = 1_800_000;

/** Maximum length of a line of results. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Records the cost of an ended batch: the usage of its answers at the prices valid when it was created. The record's id
 * and time come from the batch, so repeating this, here or on another gateway, is idempotent.
 * @throws GatewayError if the results cannot be read now; nothing is recorded then.
 */
export async function reconcile(deps: BatchDeps, row: BatchRow): Promise<void> {
  if (row.reconciledAt !== null) return;
  const totals = await totalsOf(deps, row);
  await store(deps, row, { totals, state: stateOf(row, totals) });
}

/** Records a batch that its provider no longer knows, with unknown cost. */
export function recordLostBatch(deps: BatchDeps, row: BatchRow): Promise<void> {
  const { reading } = batchTally().done();
  const totals = {
    answers: 0,
    reading,
    priced: UNPRICED,
    discounted: UNPRICED,
    partial: true,
    modelMismatch: false,
  };
  return store(deps, row, { totals, state: "interrupted" });
}

type Outcome = { totals: BatchTotals; state: RequestRow["state"] };

async function store(deps: BatchDeps, row: BatchRow, { totals, state }: Outcome): Promise<void> {
  const counted = countedAt(deps.directory.current().settings.batch_basis, totals);
  const record = recordOf(row, counted, state);
  // A budget counts a batch of unknown cost at what was reserved for it.
  const boundUsd = record.costUsd === null ? await reservedFor(deps.database, row.recordId) : null;
  // While its recorder closes, this gateway leaves the batch to the next one.
  if (!deps.recorder.accepting()) throw new GatewayError("cannot_record");
  await deps.recorder.settle(boundUsd === null ? record : { ...record, boundUsd });
  const { priced, discounted, partial } = counted;
  await markReconciled(deps.database, row.id, {
    at: deps.clock.now().toISOString(),
    costUsd: priced.costUsd,
    costBasis: priced.basis ?? "interactive",
    discountedCostUsd: discounted.costUsd,
    partial,
  });
}

/** The totals with the cost that is recorded: at the prices of interactive calls, or of batches where those are known. */
function countedAt(basis: Settings["batch_basis"], totals: BatchTotals): BatchTotals {
  const { priced, discounted } = totals;
  if (priced.costUsd === null) return totals;
  const atList = basis === "list" && discounted.costUsd !== null;
  return {
    ...totals,
    priced: atList
      ? { ...discounted, basis: "batch", listCostUsd: priced.costUsd }
      : { ...priced, basis: "interactive" },
  };
}

const stateOf = ({ status }: BatchRow, { answers }: BatchTotals): RequestRow["state"] =>
  answers > 0 || status === "completed" || status === "ended" ? "ok" : "upstream_error";

function recordOf(
  row: BatchRow,
  { reading, priced, discounted, partial, modelMismatch }: BatchTotals,
  state: RequestRow["state"],
): RequestRow {
  const route = nameOf([...row.routes, ...(row.direct || row.routes.length === 0 ? [DIRECT] : [])]);
  return {
    orgId: row.orgId,
    id: row.recordId,
    startedAt: row.startedAt,
    surface: row.kind === "lines" ? "batches" : "messages.batches",
    channel: "batch",
    state,
    streamed: false,
    attempts: 1,
    route,
    routeSource: route === DIRECT ? "direct" : "model",
    provider: row.provider,
    model: row.models.length === 0 ? null : nameOf(row.models),
    responseModel: reading.responseModel,
    modelMismatch,
    keyId: row.keyId,
    owner: row.owner,
    userLabel: row.userLabel,
    teams: row.teams,
    costCenter: row.costCenter,
    session: row.session,
    agentSession: row.agentSession,
    parentSession: row.parentSession,
    client: row.client,
    tags: row.tags,
    agentId: row.agentId,
    parentAgentId: row.parentAgentId,
    ...costColumns(reading, priced),
    discountedCostUsd: discounted.costUsd,
    partial: partial || reading.usageSource === "partial",
  };
}

const nameOf = (names: readonly string[]): string => (names.length === 1 && names[0] ? names[0] : SEVERAL);

/** Path of a batch's results; null if it has none. */
function resultsPath({ kind, id, outputFileId }: BatchRow): string | null {
  if (kind === "messages") return `/v1/messages/batches/${id}/results`;
  return outputFileId === null ? null : `/files/${outputFileId}/content`;
}

async function totalsOf(deps: BatchDeps, row: BatchRow): Promise<BatchTotals> {
  const sum = batchTally();
  const path = resultsPath(row);
  if (path === null) return sum.done();
  const provider = providerNamed(deps, row.provider);
  const surface = surfaceOf(row);
  const wire: WireName = SURFACES[surface].wire;
  const signal = AbortSignal.timeout(RESULTS_MAX_MS);
  const answer = await deps.providerApi({ method: "GET", provider, wire, path, signal });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new GatewayError("upstream_broken");
  }
  const add = adder(deps, row, { provider, wire, add: sum.add });
  const splitter = lineSplitter(LINE_BYTES_MAX);
  try {
    for await (const bytes of answer.body ?? []) splitter.push(bytes).forEach(add);
  } catch (cause) {
    throw new GatewayError("upstream_broken", undefined, cause);
  }
  add(splitter.end());
  return sum.done();
}

const surfaceOf = ({ kind, endpoint }: BatchRow): SurfaceName =>
  kind === "messages" ? "messages" : (lineSurface(endpoint) ?? "chat.completions");

type Adding = { provider: Provider; wire: WireName; add: ReturnType<typeof batchTally>["add"] };

function adder(deps: BatchDeps, row: BatchRow, { provider, wire, add }: Adding): (line: Uint8Array) => void {
  const prices = deps.prices();
  const [firstModel = null, another] = row.models;
  return (line) => {
    const body = isBlankLine(line) ? null : answerIn(line);
    if (!body) return;
    const metered = WIRES[wire].readAnswer(Buffer.from(JSON.stringify(body)), PROVIDERS[provider.kind]);
    const model = another === undefined ? firstModel : null;
    const at = new Date(row.startedAt);
    const inTier = (serviceTier: string) =>
      priceAnswer(prices, { provider, model, ...metered, serviceTier, at });
    // A batch is priced at interactive rates, whatever its own tier (spec, endpoint table).
    const place = tierOf(metered.serviceTier).withinUs ? "_us" : "";
    const { responseModel } = metered;
    const isAnother = row.models.every((model) => isAnotherModel(prices, { provider, model, responseModel }));
    add({
      reading: metered,
      priced: inTier(`${STANDARD}${place}`),
      discounted: inTier(`${BATCH_TIER}${place}`),
      another: row.models.length > 0 && isAnother,
    });
  };
}

/** The answer on a line of results; null for a failed request, which is not billed. */
function answerIn(line: Uint8Array): ProviderObject | null {
  const entry = parseObject(line);
  const message = objectOf(entry?.["result"]);
  if (message) return message["type"] === "succeeded" ? objectOf(message["message"]) : null;
  const response = objectOf(entry?.["response"]);
  return response?.["status_code"] === 200 ? objectOf(response["body"]) : null;
}
