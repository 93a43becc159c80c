import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Call } from "../call.ts";
import type { HeaderTable } from "../http/headers.ts";

/** The header of every answer of a recorded call: the id of its record. */
export const CALL_ID_HEADER = "x-gateway-request-id";

/** The gateway's own headers of an answer. `cost` is asked once the record is written; null: the client did not ask. */
export type OwnHeaders = { id: string; cost: (() => HeaderTable) | null };

/** `x-gateway-cost: 1` asks for the cost. It can only be told of an answer that is complete before its first byte is sent. */
export const ownHeaders = (call: Pick<Call, "id" | "headers" | "closed">): OwnHeaders => ({
  id: call.id,
  cost: call.headers.get("x-gateway-cost")?.trim() === "1" ? () => costHeaders(call) : null,
});

/** Of an answer that the gateway makes itself, once its record is written. */
export const toldHeaders = (call: Pick<Call, "id" | "headers" | "closed">): HeaderTable => ({
  [CALL_ID_HEADER]: call.id,
  ...ownHeaders(call).cost?.(),
});

/** Such an answer with these headers; a stream has no cost header. */
export function withTold(answer: Response, call: Call): Response {
  const headers = call.streamed ? { [CALL_ID_HEADER]: call.id } : toldHeaders(call);
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  return answer;
}

/** None where the cost is unknown. */
function costHeaders({ closed }: Pick<Call, "closed">): HeaderTable {
  const row = closed?.row;
  if (row?.costUsd == null) return {};
  return { "x-gateway-cost-usd": row.costUsd, ...(row.partial && { "x-gateway-cost-floor": "true" }) };
}

/** Keeps the record of a call for the headers of its answer. */
export function noted(call: Call, row: RequestRow): RequestRow {
  if (call.closed) call.closed.row = row;
  return row;
}
