import { fileSource } from "../chat/content-in.ts";
import type { Json } from "../exact-json.ts";
import {
  ignored,
  inexpressible,
  malformed,
  objectsAt,
  oneOfAt,
  readMembers,
  type Takes,
  textAt,
} from "../members.ts";
import type { Part, Turn } from "../prompt.ts";
import { sourceOfUrl } from "../sources.ts";
import { openSealed } from "./sealed.ts";

/** Members that tell where an item stands in a conversation that the provider of the format itself keeps. */
const STANDING: Takes = { type: ignored, id: ignored, status: ignored, phase: ignored };

/** The turns of `input`: one text, or a list of items. */
export function responsesTurns(value: unknown, at: string): Turn[] {
  if (typeof value === "string") {
    return [{ role: "user", parts: [{ kind: "text", text: value, cache: null, at }], at }];
  }
  return joined(objectsAt(value, at).flatMap(({ object, at: place }) => itemTurn(object, place)));
}

/** Items of one side that make up one message of the other formats: what a model said, and results of its calls. */
function joined(turns: readonly Turn[]): Turn[] {
  const result: Turn[] = [];
  for (const turn of turns) {
    const before = result.at(-1);
    const together =
      before?.role === turn.role && kindOf(before) === kindOf(turn) && kindOf(turn) !== "words";
    if (before && together) before.parts.push(...turn.parts);
    else result.push(turn);
  }
  return result;
}

function kindOf({ role, parts }: Turn): "words" | "answer" | "results" {
  if (role === "assistant") return "answer";
  return parts.every(({ kind }) => kind === "result") ? "results" : "words";
}

function itemTurn(item: Json, at: string): Turn[] {
  switch (item["type"] ?? "message") {
    case "message":
      return [messageTurn(item, at)];
    case "function_call":
      return [{ role: "assistant", parts: [functionCall(item, at)], at }];
    case "function_call_output":
      return [{ role: "user", parts: [callOutput(item, at)], at }];
    case "reasoning":
      return reasoningTurn(item, at);
    default:
      throw inexpressible(
        `${at}.type`,
        "only messages, function calls and their outputs, and reasoning can be",
      );
  }
}

const ROLES = ["user", "assistant", "system", "developer"] as const;

function messageTurn(item: Json, at: string): Turn {
  const role = oneOfAt(item["role"], `${at}.role`, ROLES);
  let parts: Part[] = [];
  readMembers(item, at, {
    ...STANDING,
    role: ignored,
    content: (value, place) => {
      parts = itemContent(value, place);
    },
  });
  return { role: role === "developer" ? "system" : role, parts, at };
}

function itemContent(value: unknown, at: string): Part[] {
  if (typeof value === "string") return [{ kind: "text", text: value, cache: null, at }];
  return objectsAt(value, at).map(({ object, at: place }) => contentPart(object, place));
}

function contentPart(part: Json, at: string): Part {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "refusal":
      return textPart(part, at);
    case "input_image":
      return imagePart(part, at);
    case "input_file":
      return filePart(part, at);
    default:
      throw inexpressible(`${at}.type`);
  }
}

const CACHE_HINT: Takes = { type: ignored, prompt_cache_breakpoint: ignored };

function textPart(part: Json, at: string): Part {
  let text = "";
  const take = (value: unknown, place: string) => {
    text = textAt(value, place);
  };
  readMembers(part, at, {
    ...CACHE_HINT,
    text: take,
    refusal: take,
    annotations: ignored,
    logprobs: ignored,
  });
  return { kind: "text", text, cache: null, at };
}

function imagePart(part: Json, at: string): Part {
  let url = "";
  readMembers(part, at, {
    ...CACHE_HINT,
    detail: ignored,
    image_url: (value, place) => {
      url = textAt(value, place);
    },
  });
  return { kind: "image", source: sourceOfUrl(url, `${at}.image_url`), cache: null, at };
}

function filePart(part: Json, at: string): Part {
  let source: Extract<Part, { kind: "document" }>["source"] | null = null;
  let title: string | null = null;
  readMembers(part, at, {
    ...CACHE_HINT,
    detail: ignored,
    filename: (value, place) => {
      title = textAt(value, place);
    },
    file_data: (value, place) => {
      source = fileSource(textAt(value, place), place);
    },
    file_url: (value, place) => {
      source = sourceOfUrl(textAt(value, place), place);
    },
  });
  if (!source) throw inexpressible(at, "without file_data or file_url");
  return { kind: "document", source, title, cache: null, at };
}

function functionCall(item: Json, at: string): Part {
  const said = { call_id: "", name: "", arguments: "" };
  readMembers(item, at, { ...STANDING, ...textsInto(said) });
  if (said.name === "" || said.call_id === "") throw malformed(at, "a call with call_id and name");
  return { kind: "call", id: said.call_id, name: said.name, input: said.arguments, cache: null, at };
}

function callOutput(item: Json, at: string): Part {
  const said = { call_id: "" };
  let parts: Part[] = [];
  readMembers(item, at, {
    ...STANDING,
    // The call's id says whose output it is.
    name: ignored,
    ...textsInto(said),
    output: (value, place) => {
      parts = itemContent(value, place);
    },
  });
  if (said.call_id === "") throw malformed(`${at}.call_id`, "a string");
  return { kind: "result", callId: said.call_id, parts, failed: false, cache: null, at };
}

const textsInto = (target: Record<string, string>): Takes =>
  Object.fromEntries(
    Object.keys(target).map((name) => [
      name,
      (value: unknown, at: string) => {
        target[name] = textAt(value, at);
      },
    ]),
  );

/** Reasoning that this gateway sealed goes back to its vendor; any other is readable by its own vendor only. */
function reasoningTurn(item: Json, at: string): Turn[] {
  let parts: Part[] = [];
  readMembers(item, at, {
    ...STANDING,
    summary: ignored,
    content: ignored,
    encrypted_content: (value, place) => {
      parts = openSealed(textAt(value, place)).map((part) => ({ ...part, at: place }));
    },
  });
  return parts.length > 0 ? [{ role: "assistant", parts, at }] : [];
}
