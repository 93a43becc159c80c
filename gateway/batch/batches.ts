import type { BatchKind } from "#drizzle/schema/batches.ts";
import { refuse } from "../errors.ts";
import { type BatchRow, findBatch, listBatches, markBatchDeleted } from "../stores/batches.ts";
import { answerInFull, batchAnswer, listedBatch, relayedAnswer, relayedFile } from "./answers.ts";
import { type BatchDeps, notFoundAtVendor, requireProviderId } from "./deps.ts";
import type { ClientRequest } from "./provider-batch.ts";
import { askAboutBatch, fetchBatch, reconcileInPassing, reconcileOnce } from "./provider-batch.ts";
import { isEnded } from "./read-answer.ts";

export type BatchQuestion = ClientRequest & { keyId: string; kind: BatchKind; id: string; origin: string };

async function own(deps: BatchDeps, { keyId, kind, id }: BatchQuestion): Promise<BatchRow> {
  const row = await findBatch(deps.database, { keyId, kind, id: requireProviderId(id, "batch") });
  if (!row) throw notFoundAtVendor("batch");
  return row;
}

/** A batch as its provider reports it. The cost of an ended batch is recorded first and included. */
export const readBatch = (deps: BatchDeps, it: BatchQuestion) => relayBatch(deps, it, "");

/** Cancels a batch. Answers completed before then are still billed. */
export const cancelBatch = (deps: BatchDeps, it: BatchQuestion) => relayBatch(deps, it, "/cancel");

async function relayBatch(deps: BatchDeps, it: BatchQuestion, verb: "" | "/cancel"): Promise<Response> {
  const { headers, signal } = it;
  const { answer, bytes, row } = await fetchBatch(deps, await own(deps, it), { headers, signal, verb });
  if (!answer.ok) return relayedAnswer(answer, bytes);
  await reconcileInPassing(deps, row);
  const settled = (await findBatch(deps.database, it)) ?? row;
  return batchAnswer(answer, bytes, { row: settled, origin: it.origin });
}

/** Streams the results of a message batch from the provider. */
export async function batchResults(deps: BatchDeps, it: BatchQuestion): Promise<Response> {
  const row = await own(deps, it);
  const { headers, signal } = it;
  return relayedFile(await askAboutBatch(deps, row, { method: "GET", verb: "/results", headers, signal }));
}

/** Deletes an ended batch. Its cost is recorded first, because the results are deleted with it. */
export async function deleteBatch(deps: BatchDeps, it: BatchQuestion): Promise<Response> {
  const { headers, signal } = it;
  const { row, ...state } = await fetchBatch(deps, await own(deps, it), { headers, signal });
  if (!state.answer.ok) return relayedAnswer(state.answer, state.bytes);
  if (isEnded(row.kind, row.status)) await reconcileOnce(deps, row);
  const answer = await askAboutBatch(deps, row, { method: "DELETE", headers });
  const bytes = await answerInFull(answer);
  if (answer.ok) await markBatchDeleted(deps.database, row.id, deps.clock.now().toISOString());
  return relayedAnswer(answer, bytes);
}

export type ListQuestion = { keyId: string; kind: BatchKind; origin: string; query: URLSearchParams };

const LIMITS = { lines: { max: 100, fallback: 20 }, messages: { max: 1000, fallback: 20 } } as const;
const CURSORS = {
  lines: { after: "after", before: null },
  messages: { after: "after_id", before: "before_id" },
} as const;

/** A key's batches in the vendor's list format, newest first. */
export async function listOwnBatches(deps: BatchDeps, it: ListQuestion) {
  const { keyId, kind, origin, query } = it;
  const limit = readLimit(query.get("limit"), LIMITS[kind]);
  const { after, before } = CURSORS[kind];
  const from = query.get(after) || null;
  const until = before === null || from !== null ? null : query.get(before) || null;
  const rows = await listBatches(deps.database, keyId, {
    kind,
    after: from,
    before: until,
    limit: limit + 1,
  });
  const page = until === null ? rows.slice(0, limit) : rows.slice(-limit);
  return {
    ...(kind === "lines" && { object: "list" }),
    data: page.map((row) => listedBatch({ row, origin })),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: rows.length > limit,
  };
}

/** @throws GatewayError invalid_request */
export function readLimit(text: string | null, { max, fallback }: { max: number; fallback: number }): number {
  if (text === null) return fallback;
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= max) return limit;
  refuse(`limit must be a whole number from 1 to ${max}.`);
}
