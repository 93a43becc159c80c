import { ProtocolError } from "@modelcontextprotocol/server";
import type { GatewayError } from "../errors.ts";
import { toldOf } from "./json-rpc.ts";

/** An error within an answer that has started: JSON-RPC's code and words, without status and headers. */
export function protocolErrorOf(error: GatewayError): ProtocolError {
  const { code, message, type, headers } = toldOf(error);
  const wait = new Headers(headers).get("retry-after");
  const data = { type, ...(wait !== null && { retry_after_seconds: Number(wait) }) };
  return new ProtocolError(code, message, data);
}
