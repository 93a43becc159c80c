import type { Json } from "../exact-json.ts";
import {
  ignored,
  inexpressible,
  into,
  malformed,
  objectAt,
  objectsAt,
  only,
  readMembers,
  textAt,
} from "../members.ts";
import { type Part, type PartOf, type PromptTurn, plainText } from "../prompt.ts";
import { cacheReaders, chatContent, reasoningDetails } from "./content-in.ts";

/** The turns of a chat conversation. A `tool` message becomes a result in a user's turn. */
export const chatTurns = (value: unknown, at: string): PromptTurn[] =>
  objectsAt(value, at).map(({ object, at: place }) => chatTurn(object, place));

function chatTurn(message: Json, at: string): PromptTurn {
  switch (message["role"]) {
    case "system":
    case "developer":
      return { role: "system", parts: plainParts(message, at), at };
    case "user":
      return { role: "user", parts: plainParts(message, at), at };
    case "assistant":
      return { role: "assistant", parts: assistantParts(message, at), at };
    case "tool":
      return { role: "user", parts: [toolResult(message, at)], at };
    default:
      throw inexpressible(`${at}.role`);
  }
}

type Content = { parts: Part[]; cache: Json | null };

function plainParts(message: Json, at: string): Part[] {
  const content: Content = { parts: [], cache: null };
  readMembers(message, at, {
    role: ignored,
    content: into(content, "parts", chatContent),
    ...cacheReaders(content),
  });
  return marked(content);
}

/** A cache mark on the message means one on its last part. */
function marked({ parts, cache }: Content): Part[] {
  const last = parts.at(-1);
  return cache && last && "cache" in last ? [...parts.slice(0, -1), { ...last, cache }] : parts;
}

function assistantParts(message: Json, at: string): Part[] {
  const content: Content = { parts: [], cache: null };
  const other: Record<"reasoning" | "refusal" | "calls", Part[]> = { reasoning: [], refusal: [], calls: [] };
  readMembers(message, at, {
    role: ignored,
    content: into(content, "parts", chatContent),
    refusal: into(other, "refusal", (value, place) => [plainText(textAt(value, place), place)]),
    tool_calls: into(other, "calls", (value, place) =>
      objectsAt(value, place).map(({ object, at: where }) => toolCall(object, where)),
    ),
    // Signed reasoning goes back; reasoning without a signature is only for reading.
    reasoning_details: into(other, "reasoning", reasoningDetails),
    reasoning_content: ignored,
    reasoning: ignored,
    // Metadata of an answer, sent back in the next request.
    annotations: only([]),
    ...cacheReaders(content),
  });
  return [...other.reasoning, ...marked(content), ...other.refusal, ...other.calls];
}

function toolCall(object: Json, at: string): Part {
  if (object["type"] !== undefined && object["type"] !== "function") throw inexpressible(`${at}.type`);
  const call: PartOf<"call"> = { kind: "call", id: "", name: "", input: "", cache: null, at };
  readMembers(object, at, {
    type: ignored,
    // Some clients send a stream's index back.
    index: ignored,
    id: into(call, "id", textAt),
    function: (value, place) =>
      readMembers(objectAt(value, place), place, {
        name: into(call, "name", textAt),
        arguments: into(call, "input", textAt),
        // Added by the SDK's own parsing.
        parsed_arguments: ignored,
      }),
  });
  if (call.name === "") throw malformed(`${at}.function.name`, "a string");
  return call;
}

function toolResult(message: Json, at: string): Part {
  const result: PartOf<"result"> = { kind: "result", callId: "", parts: [], failed: false, cache: null, at };
  readMembers(message, at, {
    role: ignored,
    // The call's id identifies the result's call.
    name: ignored,
    tool_call_id: into(result, "callId", textAt),
    content: into(result, "parts", chatContent),
    ...cacheReaders(result),
  });
  if (result.callId === "") throw malformed(`${at}.tool_call_id`, "a string");
  return result;
}
