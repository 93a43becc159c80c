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

/** Delay before the background reconciler's first poll. */
const FIRST_CHECK_MS = 60_000;

export type Creation = {
  kind: BatchKind;
  key: ClientKey;
  headers: Headers;
  provider: Provider;
  /** The client's body, which may carry labels. */
  labelled: JsonBody;
  facts: Pick<NewBatch, "endpoint" | "inputFileId" | "completionWindow" | "routes" | "models" | "direct">;
};

/** Stores the owner of a batch just created. If that fails, the batch is cancelled: no one would be billed for it. */
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

/**
 * Checks that the key's limits allow another call. A batch's cost has no known bound, so it is not reserved; it counts
 * once recorded, and a key that has spent its budget cannot create another batch.
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
