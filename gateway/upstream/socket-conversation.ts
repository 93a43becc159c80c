import type { Call, Choice, JsonBody } from "../call.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { splice } from "../http/splice.ts";

/** The call with its connection's conversation instead of `previous_response_id`, unless all providers keep it. */
export function withConversation(call: Call, { targets }: Choice): Call {
  const { socket, body } = call;
  const id = socket && memberValue(body, "previous_response_id");
  const known = typeof id === "string" ? socket?.conversation(id) : null;
  if (!socket || !known) return call;
  if (!known.isOurs && targets.every((target) => socket.serves(target))) return call;
  const input = `"input":[${joinedItems(known.items, inputItems(body))}]`;
  const rest = splice(body, { remove: ["input", "previous_response_id"], keepRoute: true });
  return { ...call, body: scanJson(withMember(rest, input)) };
}

export const joinedItems = (...items: string[]): string => items.filter((text) => text !== "").join(",");

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The items of a request's `input`: JSON values, separated by commas. A text alone is a user's message. */
export function inputItems({ bytes, members }: JsonBody): string {
  const input = members.get("input")?.at(-1);
  const text = input ? decoder.decode(bytes.subarray(input.valueStart, input.valueEnd)) : "";
  if (text.startsWith("[")) return text.slice(1, -1).trim();
  return text.startsWith('"') ? `{"type":"message","role":"user","content":${text}}` : "";
}

function withMember(object: Uint8Array, member: string): Uint8Array {
  const text = decoder.decode(object).trim();
  return encoder.encode(text === "{}" ? `{${member}}` : `{${member},${text.slice(1)}`);
}
