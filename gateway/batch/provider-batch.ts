import { within } from "#drizzle/database.ts";
import { errorFields } from "#shared/log.ts";
import type { BatchRow, BatchUpdate, NewFile } from "../stores/batches.ts";
import { insertFiles, recordBatchUpdate } from "../stores/batches.ts";
import type { WireName } from "../surface-facts.ts";
import { answerInFull } from "./answers.ts";
import { type BatchDeps, providerNamed } from "./deps.ts";
import { batchUpdate, isEnded, objectWithId } from "./read-answer.ts";
import { reconcile } from "./reconcile.ts";

/** How long a client's request waits for the cost to be recorded; recording continues after that. */
const RECORDED_MAX_MS = 20_000;

/** How long the background reconciler waits for a provider's complete answer. */
const ANSWER_MAX_MS = 120_000;

export type ClientRequest = { headers: Headers; signal: AbortSignal };
export type BatchAnswer = { answer: Response; bytes: Uint8Array; row: BatchRow };

const PATHS = { lines: "/batches", messages: "/v1/messages/batches" } as const;
const WIRES = { lines: "chat", messages: "messages" } as const satisfies Record<string, WireName>;

export const batchEndpoint = (kind: BatchRow["kind"]) => ({ path: PATHS[kind], wire: WIRES[kind] });

type Asked = Partial<ClientRequest> & {
  method: "GET" | "POST" | "DELETE";
  verb?: "" | "/cancel" | "/results" | undefined;
};

export function askAboutBatch(
  deps: BatchDeps,
  { kind, id, provider }: BatchRow,
  { verb = "", ...request }: Asked,
): Promise<Response> {
  const { path, wire } = batchEndpoint(kind);
  return deps.providerApi({
    ...request,
    provider: providerNamed(deps, provider),
    wire,
    path: `${path}/${id}${verb}`,
  });
}

/** Reads a batch at its provider, or cancels it, and stores the reported state. */
export async function fetchBatch(
  deps: BatchDeps,
  row: BatchRow,
  { verb = "", signal, ...headers }: Partial<ClientRequest> & { verb?: "" | "/cancel" } = {},
): Promise<BatchAnswer> {
  const answer = await askAboutBatch(deps, row, {
    ...headers,
    verb,
    method: verb === "" ? "GET" : "POST",
    signal: signal ?? AbortSignal.timeout(ANSWER_MAX_MS),
  });
  const bytes = await answerInFull(answer);
  return { answer, bytes, row: answer.ok ? await withUpdate(deps, row, bytes) : row };
}

async function withUpdate(deps: BatchDeps, row: BatchRow, bytes: Uint8Array): Promise<BatchRow> {
  const update = batchUpdate(row.kind, objectWithId(bytes).object);
  await insertFiles(deps.database, outputFiles(row, update));
  await recordBatchUpdate(deps.database, row.id, update);
  return { ...row, ...update };
}

/** Output files belong to the key that created the batch. */
function outputFiles(row: BatchRow, { outputFileId, errorFileId }: BatchUpdate): NewFile[] {
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

/** Records the cost of an ended batch; concurrent calls share one run. */
export function reconcileOnce(deps: BatchDeps, row: BatchRow): Promise<void> {
  const running = deps.reconciling.get(row.id);
  if (running !== undefined) return running;
  const run = reconcile(deps, row).finally(() => deps.reconciling.delete(row.id));
  deps.reconciling.set(row.id, run);
  return run;
}

/** Like `reconcileOnce`, but never fails the request: on an error or timeout the reconciler records the cost later. */
export async function reconcileInPassing(deps: BatchDeps, row: BatchRow): Promise<void> {
  if (row.reconciledAt !== null || !isEnded(row.kind, row.status)) return;
  try {
    await within(RECORDED_MAX_MS, reconcileOnce(deps, row));
  } catch (error) {
    deps.log.warn({ batch: row.id, ...errorFields(error) }, "a batch could not be reconciled yet");
  }
}
