import type { BatchKind } from "#drizzle/schema/batches.ts";
import { newId } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import type { JsonBody } from "../call.ts";
import type { ClientKey, Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { readLabels } from "../http/labels.ts";
import { refusesUnpriced, withCallBudgets } from "../limits/key-budgets.ts";
import { formatPico, type Pico } from "../limits/money.ts";
import { type BatchRow, findBatch, insertBatch, type NewBatch } from "../stores/batches.ts";
import { answerInFull, batchAnswer, relayedAnswer } from "./answers.ts";
import type { BatchDeps } from "./deps.ts";
import { batchEndpoint } from "./provider-batch.ts";
import { batchUpdate, objectWithId } from "./read-answer.ts";

/** Delay before the background reconciler's first poll. */
const FIRST_CHECK_MS = 60_000;

type Creation = {
  kind: BatchKind;
  key: ClientKey;
  headers: Headers;
  provider: Provider;
  /** For the provider. */
  body: Uint8Array;
  /** The client's body, which may carry labels. */
  labelled: JsonBody;
  facts: Pick<NewBatch, "endpoint" | "inputFileId" | "completionWindow" | "routes" | "models" | "direct">;
  origin: string;
};

type Charged = Pick<Creation, "key" | "headers" | "labelled"> & { facts: Pick<NewBatch, "routes"> };

/** The key with the budgets of the batch's routes and tags. */
export function chargedKey({ directory }: BatchDeps, it: Charged): ClientKey {
  const { tags } = readLabels(it.headers, it.labelled);
  return withCallBudgets(it, directory.current(), { routes: it.facts.routes, tags }).key;
}

/** What the requests of a batch may cost together, and whether some are for models without a price. */
export type BatchBound = { usd: Pico; unpriced: boolean };

/**
 * Creates a batch at its provider and stores whose it is. The most that it may cost is reserved until its cost is
 * recorded; a batch that is not created reserves nothing.
 * @throws GatewayError rate_limited, budget_exhausted, unpriced_model
 */
export async function createBatch(
  deps: BatchDeps,
  { usd, unpriced }: BatchBound,
  it: Creation,
): Promise<Response> {
  const { headers, provider, body, origin } = it;
  const key = chargedKey(deps, it);
  if (unpriced && refusesUnpriced(key)) throw new GatewayError("unpriced_model");
  const recordId = newId();
  const call = { id: recordId, key, admittedAt: deps.clock.now(), recorded: true };
  // At least the smallest amount, so that it needs a budget with something left.
  const most = usd > 1n ? usd : 1n;
  const grant = await deps.limiter.reserve(call, () => ({ tokens: 0, usd: most, minimumUsd: most }));
  if (grant instanceof GatewayError) throw grant;
  try {
    const request = { method: "POST", provider, headers, body } as const;
    const answer = await deps.providerApi({ ...request, ...batchEndpoint(it.kind) });
    const bytes = await answerInFull(answer);
    if (!answer.ok) {
      await grant.release();
      return relayedAnswer(answer, bytes);
    }
    const row = await saveBatch(deps, { ...it, recordId }, bytes);
    const created = batchAnswer(answer, bytes, { row, origin });
    // It counts as spent until its record says what it cost.
    await grant.settle({ costUsd: formatPico(most), tokens: null });
    return created;
  } catch (error) {
    await grant.release();
    throw error;
  }
}

/** Stores the owner of a batch just created. If that fails, the batch is cancelled: no one would be billed for it. */
async function saveBatch(
  deps: BatchDeps,
  it: Creation & { recordId: string },
  bytes: Uint8Array,
): Promise<BatchRow> {
  const { object, id } = objectWithId(bytes);
  const { kind, key } = it;
  const now = deps.clock.now();
  const at = now.toISOString();
  try {
    await insertBatch(deps.database, {
      id,
      kind,
      keyId: key.id,
      provider: it.provider.name,
      ...it.facts,
      ...batchUpdate(kind, object),
      createdAt: at,
      recordId: it.recordId,
      startedAt: at,
      owner: key.owner,
      teams: key.teams,
      costCenter: key.costCenter,
      ...readLabels(it.headers, it.labelled),
      nextCheckAt: new Date(now.getTime() + FIRST_CHECK_MS).toISOString(),
    });
    const row = await findBatch(deps.database, { keyId: key.id, kind, id });
    if (row) return row;
    throw new Error("the provider returned an id that belongs to another key");
  } catch (error) {
    deps.log.error({ batch: id, ...errorFields(error) }, "a batch could not be stored and is cancelled");
    await endBatch(deps, it, id).catch(() => undefined);
    throw error;
  }
}

async function endBatch(deps: BatchDeps, { kind, provider }: Creation, id: string): Promise<void> {
  const { path, wire } = batchEndpoint(kind);
  const answer = await deps.providerApi({ method: "POST", provider, wire, path: `${path}/${id}/cancel` });
  await answer.body?.cancel();
}
