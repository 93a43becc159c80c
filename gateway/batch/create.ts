import type { BatchKind } from "#drizzle/schema/batches.ts";
import { newId } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import type { JsonBody } from "../call.ts";
import type { ClientKey, Provider } from "../directory.ts";
import { readLabels } from "../http/labels-in.ts";
import { type BatchRow, findBatch, insertBatch, type NewBatch } from "../stores/batches.ts";
import type { BatchDeps } from "./deps.ts";
import { placeOf } from "./look.ts";
import { batchNews, objectWithId } from "./told.ts";

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
export async function keepBatch(deps: BatchDeps, it: Creation, bytes: Uint8Array): Promise<BatchRow> {
  const { told, id } = objectWithId(bytes);
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
      ...batchNews(kind, told),
      createdAt: at,
      recordId: newId(),
      startedAt: at,
      owner: key.owner,
      ...readLabels(it.headers, it.labelled),
      nextCheckAt: new Date(now.getTime() + FIRST_CHECK_MS).toISOString(),
    });
    const row = await findBatch(deps.database, { keyId: key.id, kind, id });
    if (row) return row;
    throw new Error("the provider gave an id that another key has");
  } catch (error) {
    deps.log.error({ batch: id, ...errorFields(error) }, "a batch cannot be kept and is ended");
    await endBatch(deps, it, id).catch(() => undefined);
    throw error;
  }
}

async function endBatch(deps: BatchDeps, { kind, provider }: Creation, id: string): Promise<void> {
  const { path, wire } = placeOf(kind);
  const answer = await deps.ask({ method: "POST", provider, wire, path: `${path}/${id}/cancel` });
  await answer.body?.cancel();
}
