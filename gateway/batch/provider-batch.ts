import { within } from "#drizzle/database.ts";
import { errorFields } from "#shared/log.ts";
import {
  type BatchNews,
  type BatchRow,
  insertFiles,
  type NewFile,
  noteBatchNews,
} from "../stores/batches.ts";
import type { WireName } from "../surface-facts.ts";
import { type BatchDeps, providerNamed } from "./deps.ts";
import { batchUpdate, isEnded, objectWithId } from "./read-answer.ts";
import { reconcile } from "./reconcile.ts";

/** How long a client's question waits for the cost of its batch to be recorded; that goes on without it. */
const RECORDED_MAX_MS = 20_000;

/** How long the background waits for a whole answer about a batch. */
const ANSWER_MAX_MS = 120_000;

export type ClientRequest = { headers: Headers; signal: AbortSignal };
export type BatchAnswer = { answer: Response; bytes: Uint8Array; row: BatchRow };

const PATHS = { lines: "/batches", messages: "/v1/messages/batches" } as const;
const WIRES = { lines: "chat", messages: "messages" } as const satisfies Record<string, WireName>;

/** The path and the wire of a kind of batch at its provider. */
export const batchEndpoint = (kind: BatchRow["kind"]) => ({ path: PATHS[kind], wire: WIRES[kind] });

/** Reads a batch at its provider, or cancels it, and stores the reported state. */
export async function askBatch(
  deps: BatchDeps,
  row: BatchRow,
  { verb = "", headers, signal }: Partial<ClientRequest> & { verb?: "" | "/cancel" } = {},
): Promise<BatchAnswer> {
  const { path, wire } = batchEndpoint(row.kind);
  const answer = await deps.providerApi({
    method: verb === "" ? "GET" : "POST",
    provider: providerNamed(deps, row.provider),
    wire,
    path: `${path}/${row.id}${verb}`,
    ...(headers && { headers }),
    signal: signal ?? AbortSignal.timeout(ANSWER_MAX_MS),
  });
  const bytes = await answer.bytes();
  return { answer, bytes, row: answer.ok ? await noted(deps, row, bytes) : row };
}

async function noted(deps: BatchDeps, row: BatchRow, bytes: Uint8Array): Promise<BatchRow> {
  const news = batchUpdate(row.kind, objectWithId(bytes).object);
  await insertFiles(deps.database, madeFiles(row, news));
  await noteBatchNews(deps.database, row.id, news);
  return { ...row, ...news };
}

/** The files that a batch made belong to its key. */
function madeFiles(row: BatchRow, { outputFileId, errorFileId }: BatchNews): NewFile[] {
  return [outputFileId, errorFileId].flatMap((id) =>
    id === null
      ? []
      : [
          {
            id,
            keyId: row.keyId,
            provider: row.provider,
            purpose: "batch_output",
            status: "processed",
            createdAt: row.createdAt,
            routes: [],
            models: [],
          },
        ],
  );
}

/** Records the cost of a batch that has ended; two who ask at once wait for one and the same. */
export function reconcileOnce(deps: BatchDeps, row: BatchRow): Promise<void> {
  const running = deps.reconciling.get(row.id);
  if (running !== undefined) return running;
  const run = reconcile(deps, row).finally(() => deps.reconciling.delete(row.id));
  deps.reconciling.set(row.id, run);
  return run;
}

/**
 * The same on the way of a client's question, which is answered in any case: what could not be recorded now, the
 * background reconciler records later.
 */
export async function reconcileInPassing(deps: BatchDeps, row: BatchRow): Promise<void> {
  if (row.reconciledAt !== null || !isEnded(row.kind, row.status)) return;
  try {
    await within(RECORDED_MAX_MS, reconcileOnce(deps, row));
  } catch (error) {
    deps.log.warn({ batch: row.id, ...errorFields(error) }, "a batch could not be reconciled yet");
  }
}
