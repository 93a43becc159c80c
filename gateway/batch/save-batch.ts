import type { BatchKind } from "#drizzle/schema/batches.ts";
import { newId } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import type { JsonBody } from "../call.ts";
import type { ClientKey, Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { readLabels } from "../http/labels.ts";
import { type BatchRow, findBatch, insertBatch, type NewBatch } from "../stores/batches.ts";
import type { BatchDeps } from "./deps.ts";
import { batchEndpoint } from "./provider-batch.ts";
import { batchUpdate, objectWithId } from "./read-answer.ts";

/** The first look of the background reconciler. */
const FIRST_CHECK_MS = 60_000;

export type Creation = {
  kind: BatchKind;
  key: ClientKey;
  headers: Headers;
  provider: Provider;
  /** The client's own words, for its labels. */
  labelled: JsonBody;
  facts: Pick<NewBatch, "endpoint" | "inputFileId" | "completionWindow" | "routes" | "models" | "direct">;
};

/** Keeps whose a batch is that its provider has just made. A batch that nobody owns would never be paid for, so it is ended. */
export async function saveBatch(deps: BatchDeps, it: Creation, bytes: Uint8Array): Promise<BatchRow> {
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
      recordId: newId(),
      startedAt: at,
      owner: key.owner,
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

/**
 * Asks the key's limits whether they let another call through. What a batch may cost is not reserved, because nobody bounds it; its record
 * counts once it is there, and a key whose budget is spent gets no other batch.
 * @throws GatewayError rate_limited, budget_exhausted
 */
export async function requireBudget(
  deps: Pick<BatchDeps, "clock" | "limiter">,
  key: ClientKey,
): Promise<void> {
  const call = { id: newId(), key, admittedAt: deps.clock.now(), recorded: false };
  const grant = await deps.limiter.reserve(call, () => ({ tokens: 0, usd: 1n, minimumUsd: 1n }));
  if (grant instanceof GatewayError) throw grant;
  await grant.release();
}

async function endBatch(deps: BatchDeps, { kind, provider }: Creation, id: string): Promise<void> {
  const { path, wire } = batchEndpoint(kind);
  const answer = await deps.providerApi({ method: "POST", provider, wire, path: `${path}/${id}/cancel` });
  await answer.body?.cancel();
}
