import { priceText } from "#drizzle/price-text.ts";
import { inputTokens } from "#shared/usage.ts";
import { GatewayError } from "../errors.ts";
import { clientHeaders } from "../http/headers.ts";
import { scanJson } from "../http/scan.ts";
import type { Priced, Reading } from "../reading.ts";
import type { BatchRow, FileRow } from "../stores/batches.ts";
import { bytesUpTo } from "../upstream/whole-body.ts";

const CLOSE_BRACE = 0x7d;

/** Batch cost basis: every answer at the price of an interactive call, which is more than the provider charges. */
const BASIS = "interactive_rates";

const gatewayMember = ({ costUsd, partial, reconciledAt }: BatchRow) => ({
  cost_usd: costUsd,
  floor: partial,
  basis: BASIS,
  reconciled_at: reconciledAt,
});

/** Largest answer about a file or a batch. They describe it, so they are small. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** A provider's whole answer about a file or a batch. @throws GatewayError upstream_broken over the limit. */
export const answerInFull = (answer: Pick<Response, "body">): Promise<Uint8Array<ArrayBuffer>> =>
  bytesUpTo(answer, ANSWER_BYTES_MAX, () => new GatewayError("upstream_broken"));

/** A provider's answer with `bytes` as its body and only the headers that clients may see. */
export function relayedAnswer(answer: Response, bytes: Uint8Array): Response {
  const headers = clientHeaders(answer.headers);
  return new Response(bytes.byteLength > 0 ? Buffer.from(bytes) : null, { status: answer.status, headers });
}

/**
 * A file of a caller, as it streams from the provider. Its type is whatever the caller said, so a browser that opens the
 * address only ever saves it.
 */
export function relayedFile({ body, status, headers }: Response): Response {
  const { "content-disposition": given = "", ...others } = clientHeaders(headers);
  const disposition = /^attachment\b/i.test(given) ? given : "attachment";
  return new Response(body, { status, headers: { ...others, "content-disposition": disposition } });
}

type Shown = { row: BatchRow; origin: string };

/** A provider's batch object with a `gateway` member added and `results_url` rewritten; all other bytes unchanged. */
export function batchAnswer(answer: Response, bytes: Uint8Array, it: Shown): Response {
  const body = scanJson(bytes);
  const [url] = body.members.get("results_url") ?? [];
  const end = bytes.lastIndexOf(CLOSE_BRACE);
  const gateway = Buffer.from(`,"gateway":${JSON.stringify(gatewayMember(it.row))}`);
  const parts = url
    ? [bytes.subarray(0, url.valueStart), resultsUrlText(it), bytes.subarray(url.valueEnd, end)]
    : [bytes.subarray(0, end)];
  return relayedAnswer(answer, Buffer.concat([...parts, gateway, bytes.subarray(end)]));
}

const resultsUrlText = (it: Shown) => Buffer.from(JSON.stringify(resultsUrl(it)));

/** Points at the gateway: a vendor's client would otherwise send its gateway key to the provider. */
const resultsUrl = ({ row, origin }: Shown): string | null =>
  row.status === "ended" ? `${origin}/v1/messages/batches/${row.id}/results` : null;

/** A list entry in the vendor's format, built from the stored batch. */
export const listedBatch = (it: Shown) =>
  it.row.kind === "lines" ? listedLines(it.row) : listedMessages(it);

const listedLines = (row: BatchRow) => ({
  id: row.id,
  object: "batch",
  endpoint: row.endpoint,
  errors: null,
  input_file_id: row.inputFileId,
  completion_window: row.completionWindow,
  status: row.status,
  output_file_id: row.outputFileId,
  error_file_id: row.errorFileId,
  created_at: seconds(row.createdAt),
  ...row.facts,
  metadata: null,
  gateway: gatewayMember(row),
});

const NO_COUNTS = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };

const listedMessages = (it: Shown) => ({
  id: it.row.id,
  type: "message_batch",
  processing_status: it.row.status,
  request_counts: NO_COUNTS,
  created_at: it.row.createdAt,
  ended_at: null,
  expires_at: null,
  archived_at: null,
  cancel_initiated_at: null,
  ...it.row.facts,
  results_url: resultsUrl(it),
  gateway: gatewayMember(it.row),
});

const seconds = (at: string | null): number | null =>
  at === null ? null : Math.floor(Date.parse(at) / 1000);

export const listedFile = (row: FileRow) => ({
  id: row.id,
  object: "file",
  bytes: row.bytes,
  created_at: seconds(row.createdAt),
  ...(row.expiresAt !== null && { expires_at: seconds(row.expiresAt) }),
  filename: row.filename,
  purpose: row.purpose,
  status: row.status,
});

/** The part of an answer and its price that a record stores. */
export const costColumns = (reading: Reading, priced: Priced) => ({
  usageSource: reading.usageSource,
  ...reading.usage,
  inputTokens: inputTokens(reading.usage),
  costUsd: priced.costUsd,
  tokenCostUsd: priced.tokenCostUsd,
  costBasis: priced.basis ?? null,
  listCostUsd: priced.listCostUsd ?? null,
  price: priced.price && priceText(priced.price),
  unpriced: priced.costUsd === null,
});
