import { ProtocolError } from "@modelcontextprotocol/server";
import { isRecord } from "#shared/json.ts";
import type { JsonBody } from "../call.ts";
import { ERRORS, GatewayError } from "../errors.ts";
import { MCP_MESSAGE } from "../http/deciding-names.ts";
import { TwoReadings } from "../http/one-reading.ts";
import { memberValue, scanJson } from "../http/scan.ts";

/** Codes of JSON-RPC and of the protocol. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  unauthorized: -32001,
  headerMismatch: -32020,
} as const;

type RpcId = string | number | null;

/** One message of a client: a request (`id` and `method`), a notification (`method`) or a response. */
export type RpcMessage = {
  /** Undefined where it has none. */
  id: RpcId | undefined;
  method: string | null;
  params: Readonly<Record<string, unknown>>;
  /** The message as it came. */
  body: JsonBody;
};

/** An error to answer with, in JSON-RPC's words. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly status: number;
  constructor(code: number, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The message in a body. Batches are refused: the revisions that are served have none. @throws RpcError */
export function readMessage(bytes: Uint8Array): RpcMessage {
  const body = scanned(bytes);
  const [id, method, params] = ["id", "method", "params"].map((name) => memberValue(body, name));
  if (memberValue(body, "jsonrpc") !== "2.0" || !isId(id) || !isMethod(method)) {
    throw new RpcError(RPC.invalidRequest, "The message is not JSON-RPC 2.0.");
  }
  return { id, method: method ?? null, params: isRecord(params) ? params : {}, body };
}

function scanned(bytes: Uint8Array): ReturnType<typeof scanJson> {
  try {
    return scanJson(bytes, MCP_MESSAGE);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error instanceof TwoReadings) throw new RpcError(RPC.invalidRequest, error.message);
    const isBatch = /^\s*\[/.test(new TextDecoder().decode(bytes.subarray(0, 64)));
    throw isBatch
      ? new RpcError(RPC.invalidRequest, "Batches are not supported. Send one message.")
      : new RpcError(RPC.parseError, error.message);
  }
}

const isId = (value: unknown): value is RpcMessage["id"] =>
  value === undefined || value === null || typeof value === "string" || typeof value === "number";

const isMethod = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";

/** The JSON-RPC error answer for anything thrown, without internal details. */
export function rpcErrorResponse(error: unknown, id: RpcMessage["id"], requestId: string): Response {
  const { status, code, message, type, headers } = toldOf(error);
  const body = { jsonrpc: "2.0", id: id ?? null, error: { code, message, data: { type } } };
  return Response.json(body, { status, headers: { ...headers, "x-request-id": requestId } });
}

/** An error in JSON-RPC's words, with the status and headers that it has as an answer of its own. */
function toldOf(error: unknown) {
  if (error instanceof RpcError) {
    const { status, code, message } = error;
    return { status, code, message, type: "invalid_request_error", headers: { "x-should-retry": "false" } };
  }
  const known = error instanceof GatewayError ? error : new GatewayError("internal");
  const facts: (typeof ERRORS)[keyof typeof ERRORS] = ERRORS[known.type];
  return {
    // A rule's refusal is the answer to the call. A status would make clients take it for a failure of the connection.
    status: known.type === "guardrail_blocked" ? 200 : facts.status,
    code: codeOf(known.type, facts.status),
    message: known.message,
    type: facts.openai,
    headers: {
      ...(facts.final && { "x-should-retry": "false" }),
      ...("retryAfterSeconds" in facts && { "retry-after": String(facts.retryAfterSeconds) }),
      ...(known.type === "unauthenticated" && { "www-authenticate": "Bearer" }),
      ...known.headers,
    },
  };
}

const codeOf = (type: keyof typeof ERRORS, status: number): number =>
  type === "unauthenticated" ? RPC.unauthorized : status < 500 ? RPC.invalidRequest : RPC.internal;

/** An error within an answer that has started: JSON-RPC's code and words, without status and headers. */
export function protocolErrorOf(error: GatewayError): ProtocolError {
  const { code, message, type, headers } = toldOf(error);
  const wait = new Headers(headers).get("retry-after");
  const data = { type, ...(wait !== null && { retry_after_seconds: Number(wait) }) };
  return new ProtocolError(code, message, data);
}
