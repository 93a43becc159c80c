import { clientHeaders } from "../http/headers.ts";
import { scanJson } from "../http/scan.ts";
import type { BatchRow, FileRow } from "../stores/batches.ts";

const CLOSE_BRACE = 0x7d;

/** How the cost of a batch is reckoned: each answer at the price of a call made at once, which is more than is charged. */
const BASIS = "interactive_rates";

/** What the gateway adds to a batch: its cost, once that is recorded. */
const gatewayMember = ({ costUsd, partial, reconciledAt }: BatchRow) => ({
  cost_usd: costUsd,
  floor: partial,
  basis: BASIS,
  reconciled_at: reconciledAt,
});

/** A provider's answer, its status and headers as the client may see them, with these bytes. */
export function relayedAnswer(answer: Response, bytes: Uint8Array): Response {
  const headers = clientHeaders(answer.headers);
  return new Response(bytes.byteLength > 0 ? Buffer.from(bytes) : null, { status: answer.status, headers });
}

/** A provider's batch object with the gateway's own member; every other byte is as it came but `results_url`. */
export function batchAnswer(
  answer: Response,
  bytes: Uint8Array,
  it: { row: BatchRow; origin: string },
): Response {
  const body = scanJson(bytes);
  const [url] = body.members.get("results_url") ?? [];
  const end = bytes.lastIndexOf(CLOSE_BRACE);
  const mine = Buffer.from(`,"gateway":${JSON.stringify(gatewayMember(it.row))}`);
  const parts = url
    ? [bytes.subarray(0, url.valueStart), resultsUrlText(it), bytes.subarray(url.valueEnd, end)]
    : [bytes.subarray(0, end)];
  return relayedAnswer(answer, Buffer.concat([...parts, mine, bytes.subarray(end)]));
}

const resultsUrlText = (it: { row: BatchRow; origin: string }) => Buffer.from(JSON.stringify(resultsUrl(it)));

/** The provider's own address would be sent the gateway's key by the vendor's client. */
const resultsUrl = ({ row, origin }: { row: BatchRow; origin: string }): string | null =>
  row.status === "ended" ? `${origin}/v1/messages/batches/${row.id}/results` : null;

/** A batch in a list, in its vendor's form, from what the gateway keeps of it. */
export const listedBatch = (it: { row: BatchRow; origin: string }) =>
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
  created_at: Math.floor(Date.parse(row.createdAt) / 1000),
  ...row.facts,
  metadata: null,
  gateway: gatewayMember(row),
});

const NO_COUNTS = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };

const listedMessages = (it: { row: BatchRow; origin: string }) => ({
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
