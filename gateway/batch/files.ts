import { type FileRow, findBatchOfOutput, findFile, listFiles, markFileDeleted } from "../stores/batches.ts";
import { answerInFull, listedFile, relayedAnswer, relayedFile } from "./answers.ts";
import { readLimit } from "./batches.ts";
import { type BatchDeps, notFoundAtVendor, providerNamed, requireProviderId } from "./deps.ts";
import { type ClientRequest, fetchBatch, reconcileOnce } from "./provider-batch.ts";
import { isEnded } from "./read-answer.ts";

export type FileQuestion = ClientRequest & { keyId: string; id: string };

async function own(deps: BatchDeps, { keyId, id }: FileQuestion): Promise<FileRow> {
  const row = await findFile(deps.database, keyId, requireProviderId(id, "file"));
  if (!row) throw notFoundAtVendor("file");
  return row;
}

async function callProvider(
  deps: BatchDeps,
  it: FileQuestion,
  { method, end = "" }: { method: "GET" | "DELETE"; end?: string },
): Promise<Response> {
  const row = await own(deps, it);
  return deps.providerApi({
    method,
    provider: providerNamed(deps, row.provider),
    wire: "chat",
    path: `/files/${row.id}${end}`,
    headers: it.headers,
    signal: it.signal,
  });
}

export async function readFile(deps: BatchDeps, it: FileQuestion): Promise<Response> {
  const answer = await callProvider(deps, it, { method: "GET" });
  return relayedAnswer(answer, await answerInFull(answer));
}

export async function fileContent(deps: BatchDeps, it: FileQuestion): Promise<Response> {
  return relayedFile(await callProvider(deps, it, { method: "GET", end: "/content" }));
}

/** Deletes a file. If it holds a batch's results, the cost is recorded first, because it is computed from them. */
export async function deleteFile(deps: BatchDeps, it: FileQuestion): Promise<Response> {
  const file = await own(deps, it);
  const batch = await findBatchOfOutput(deps.database, it.keyId, file.id);
  if (batch && batch.reconciledAt === null) {
    const { row } = isEnded(batch.kind, batch.status) ? { row: batch } : await fetchBatch(deps, batch);
    await reconcileOnce(deps, row);
  }
  const answer = await callProvider(deps, it, { method: "DELETE" });
  const bytes = await answerInFull(answer);
  if (answer.ok) await markFileDeleted(deps.database, file.id, deps.clock.now().toISOString());
  return relayedAnswer(answer, bytes);
}

const LIMIT = { max: 10_000, fallback: 10_000 } as const;

export async function listOwnFiles(deps: BatchDeps, keyId: string, query: URLSearchParams) {
  const limit = readLimit(query.get("limit"), LIMIT);
  const rows = await listFiles(deps.database, keyId, {
    after: query.get("after") || null,
    purpose: query.get("purpose") || null,
    oldestFirst: query.get("order") === "asc",
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  return {
    object: "list",
    data: page.map(listedFile),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: rows.length > limit,
  };
}
