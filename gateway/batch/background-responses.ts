import type { RequestRow } from "#drizzle/schema/records.ts";
import { KEPT_IDS_MAX, keptIdHash } from "#shared/kept-ids.ts";
import { errorFields } from "#shared/log.ts";
import { isAnotherModel, priceAnswer } from "../pricing/price-answer.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { parseObject } from "../providers/provider-json.ts";
import { RESPONSES_WIRE } from "../providers/responses-wire.ts";
import { listPending, type PendingResponse, settlePending } from "../stores/pending-responses.ts";
import { answerInFull, costColumns } from "./answers.ts";
import { type BatchDeps, providerNamed } from "./deps.ts";

type Deps = Pick<BatchDeps, "database" | "directory" | "prices" | "providerApi" | "log" | "clock">;

const ENDED = new Set<unknown>(["completed", "failed", "cancelled", "incomplete"]);

/** Responses asked about in one round. */
const ROUND_MAX = 100;
const ANSWER_MAX_MS = 60_000;
/** A provider that answers 404 this long after a response was begun has forgotten it. */
const FORGOTTEN_MS = 48 * 3_600_000;
/** Longer than any provider keeps a response. */
const LOST_MS = 30 * 24 * 3_600_000;

/**
 * Records what a response that was made in the background used and cost, if its provider says that it has ended. Whoever
 * sees it first records it: a client that fetches it, or a round. Never rejects.
 */
export async function settleResponse(deps: Deps, record: PendingResponse, bytes: Uint8Array): Promise<void> {
  if (!ENDED.has(parseObject(bytes)?.["status"])) return;
  try {
    await settlePending(deps.database, record, outcomeOf(deps, record, bytes));
  } catch (error) {
    deps.log.warn({ requestId: record.id, ...errorFields(error) }, "a response could not be settled yet");
  }
}

/** At the prices in force when it was begun. */
function outcomeOf(deps: Deps, record: PendingResponse, bytes: Uint8Array): Partial<RequestRow> {
  const provider = providerNamed(deps, record.provider ?? "");
  const { keptIds, ...reading } = RESPONSES_WIRE.readAnswer(bytes, PROVIDERS[provider.kind]);
  const prices = deps.prices();
  const answered = { provider, model: record.model, ...reading, at: new Date(record.startedAt) };
  const priced = priceAnswer(prices, answered);
  const { failure } = reading;
  return {
    ...(failure !== undefined && { state: "upstream_error", errorType: `upstream_${failure}` }),
    responseModel: reading.responseModel,
    modelMismatch: isAnotherModel(prices, answered),
    serviceTier: reading.serviceTier,
    keptIds: keptIds?.slice(0, KEPT_IDS_MAX).map(keptIdHash) ?? null,
    ...costColumns(reading, priced),
    variant: reading.variant ?? null,
    partial: reading.usageSource === "partial" || priced.atLeast === true,
  };
}

/** Asks about responses that no client has fetched since they ended, provider by provider. */
export async function settlePendingResponses(deps: Deps): Promise<void> {
  const pending = await listPending(deps.database, ROUND_MAX);
  const lanes = Object.values(Object.groupBy(pending, ({ provider }) => provider ?? ""));
  await Promise.all(
    lanes.map(async (records = []) => {
      for (const record of records) await askAbout(deps, record);
    }),
  );
}

async function askAbout(deps: Deps, record: PendingResponse): Promise<void> {
  const ageMs = deps.clock.now().getTime() - Date.parse(record.startedAt);
  try {
    const answer = await deps.providerApi({
      method: "GET",
      provider: providerNamed(deps, record.provider ?? ""),
      wire: "responses",
      path: `/responses/${record.keptId}`,
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    });
    const bytes = await answerInFull(answer);
    if (answer.ok) return await settleResponse(deps, record, bytes);
    if (answer.status === 404 && ageMs > FORGOTTEN_MS) return await giveUp(deps, record);
  } catch (error) {
    deps.log.warn({ requestId: record.id, ...errorFields(error) }, "a response could not be settled yet");
  }
  if (ageMs > LOST_MS) await giveUp(deps, record);
}

/** Its cost stays unknown, and budgets keep counting what was reserved for it. */
const giveUp = (deps: Deps, record: PendingResponse): Promise<void> =>
  settlePending(deps.database, record, { state: "interrupted" });
