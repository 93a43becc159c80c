import type { Json } from "../exact-json.ts";
import {
  ignored,
  inexpressible,
  malformed,
  objectAt,
  objectsAt,
  only,
  readMembers,
  textAt,
} from "../members.ts";
import type { Part, Turn } from "../prompt.ts";
import { cacheTakes, chatContent, reasoningDetails } from "./content-in.ts";

/** The turns of a chat conversation. A `tool` message is a result that the user's side gives. */
export const chatTurns = (value: unknown, at: string): Turn[] =>
  objectsAt(value, at).map(({ object, at: place }) => chatTurn(object, place));

function chatTurn(message: Json, at: string): Turn {
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

function plainParts(message: Json, at: string): Part[] {
  let parts: Part[] = [];
  let mark: Json | null = null;
  readMembers(message, at, {
    role: ignored,
    content: (value, place) => {
      parts = chatContent(value, place);
    },
    ...cacheTakes((said) => {
      mark = said;
    }),
  });
  return marked(parts, mark);
}

/** A cache mark on the message stands for one on its last part. */
function marked(parts: Part[], mark: Json | null): Part[] {
  const last = parts.at(-1);
  return mark && last && "cache" in last ? [...parts.slice(0, -1), { ...last, cache: mark }] : parts;
}

function assistantParts(message: Json, at: string): Part[] {
  let said: Part[] = [];
  let thought: Part[] = [];
  let calls: Part[] = [];
  let mark: Json | null = null;
  const refusal: Part[] = [];
  readMembers(message, at, {
    role: ignored,
    content: (value, place) => {
      said = chatContent(value, place);
    },
    refusal: (value, place) => {
      refusal.push({ kind: "text", text: textAt(value, place), cache: null, at: place });
    },
    tool_calls: (value, place) => {
      calls = objectsAt(value, place).map(({ object, at: where }) => toolCall(object, where));
    },
    // Signed reasoning goes back; reasoning without a signature is only for reading.
    reasoning_details: (value, place) => {
      thought = reasoningDetails(value, place);
    },
    reasoning_content: ignored,
    reasoning: ignored,
    // What an answer says about itself, sent back with it.
    annotations: only([]),
    ...cacheTakes((cacheMark) => {
      mark = cacheMark;
    }),
  });
  return [...thought, ...marked(said, mark), ...refusal, ...calls];
}

function toolCall(call: Json, at: string): Part {
  if (call["type"] !== undefined && call["type"] !== "function") throw inexpressible(`${at}.type`);
  let id = "";
  let name = "";
  let input = "";
  readMembers(call, at, {
    type: ignored,
    // Some clients send a stream's index back.
    index: ignored,
    id: (value, place) => {
      id = textAt(value, place);
    },
    function: (value, place) =>
      readMembers(objectAt(value, place), place, {
        name: (said, where) => {
          name = textAt(said, where);
        },
        arguments: (said, where) => {
          input = textAt(said, where);
        },
        // Added by the SDK's own parsing.
        parsed_arguments: ignored,
      }),
  });
  if (name === "") throw malformed(`${at}.function.name`, "a string");
  return { kind: "call", id, name, input, cache: null, at };
}

function toolResult(message: Json, at: string): Part {
  let parts: Part[] = [];
  let callId = "";
  let cache: Json | null = null;
  readMembers(message, at, {
    role: ignored,
    // The call's id says whose result it is.
    name: ignored,
    tool_call_id: (value, place) => {
      callId = textAt(value, place);
    },
    content: (value, place) => {
      parts = chatContent(value, place);
    },
    ...cacheTakes((mark) => {
      cache = mark;
    }),
  });
  if (callId === "") throw malformed(`${at}.tool_call_id`, "a string");
  return { kind: "result", callId, parts, failed: false, cache, at };
}
