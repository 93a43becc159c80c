import { isJson, type Json } from "../exact-json.ts";
import {
  ignored,
  inexpressible,
  malformed,
  objectAt,
  objectsAt,
  only,
  readMembers,
  type Takes,
  textAt,
} from "../members.ts";
import type { Part, Source } from "../prompt.ts";

/** The parts of a message's `content`: one text, or a list of blocks. */
export function messagesContent(value: unknown, at: string): Part[] {
  if (typeof value === "string") return [{ kind: "text", text: value, cache: null, at }];
  return objectsAt(value, at).flatMap(({ object, at: place }) => blockParts(object, place));
}

function blockParts(block: Json, at: string): Part[] {
  switch (block["type"]) {
    case "text":
      return [textBlock(block, at)];
    case "image":
      return [imageBlock(block, at)];
    case "document":
      return documentParts(block, at);
    case "tool_use":
      return [toolUse(block, at)];
    case "tool_result":
      return [toolResult(block, at)];
    case "thinking":
      return [{ kind: "thinking", text: String(block["thinking"] ?? ""), signature: null, at }];
    case "redacted_thinking":
      return [{ kind: "redacted", data: String(block["data"] ?? ""), at }];
    default:
      throw inexpressible(at, "the type of the block has no counterpart");
  }
}

/** Cache marks steer the vendor's own cache; other providers keep theirs unasked. */
const MARKS: Takes = { type: ignored, cache_control: ignored };

function textBlock(block: Json, at: string): Part {
  let text = "";
  readMembers(block, at, {
    ...MARKS,
    text: (value, place) => {
      text = textAt(value, place);
    },
    // Where an earlier answer found what it says: the text itself stays.
    citations: ignored,
  });
  return { kind: "text", text, cache: null, at };
}

function imageBlock(block: Json, at: string): Part {
  let source: Source | null = null;
  readMembers(block, at, {
    ...MARKS,
    source: (value, place) => {
      source = sourceOf(objectAt(value, place), place);
    },
  });
  if (!source) throw malformed(`${at}.source`, "an object");
  return { kind: "image", source, cache: null, at };
}

function sourceOf(source: Json, at: string): Source {
  switch (source["type"]) {
    case "base64":
      return {
        kind: "data",
        mediaType: textAt(source["media_type"], `${at}.media_type`),
        data: textAt(source["data"], `${at}.data`),
      };
    case "url":
      return { kind: "url", url: textAt(source["url"], `${at}.url`) };
    case "text":
      return { kind: "text", text: textAt(source["data"], `${at}.data`) };
    default:
      throw inexpressible(`${at}.type`, "the file is in another vendor's store");
  }
}

/** A document, or the blocks that it is made of; its title and context go before it as text. */
function documentParts(block: Json, at: string): Part[] {
  let title: string | null = null;
  const before: Part[] = [];
  let parts: Part[] = [];
  readMembers(block, at, {
    ...MARKS,
    title: (value, place) => {
      title = textAt(value, place);
    },
    context: (value, place) => {
      before.push({ kind: "text", text: textAt(value, place), cache: null, at: place });
    },
    citations: only({ enabled: false }),
    source: (value, place) => {
      const source = objectAt(value, place);
      parts =
        source["type"] === "content"
          ? messagesContent(source["content"], `${place}.content`)
          : [{ kind: "document", source: sourceOf(source, place), title: null, cache: null, at }];
    },
  });
  return [...before, ...parts.map((part) => (part.kind === "document" ? { ...part, title } : part))];
}

function toolUse(block: Json, at: string): Part {
  let id = "";
  let name = "";
  let input: unknown = {};
  readMembers(block, at, {
    ...MARKS,
    id: (value, place) => {
      id = textAt(value, place);
    },
    name: (value, place) => {
      name = textAt(value, place);
    },
    input: (value) => {
      input = value;
    },
    // Who called: the model itself, or code that it ran at the vendor.
    caller: (value, place) => {
      if (!isJson(value) || value["type"] !== "direct") throw inexpressible(place);
    },
  });
  return { kind: "call", id, name, input: JSON.stringify(input), cache: null, at };
}

function toolResult(block: Json, at: string): Part {
  let callId = "";
  let parts: Part[] = [];
  let failed = false;
  readMembers(block, at, {
    ...MARKS,
    tool_use_id: (value, place) => {
      callId = textAt(value, place);
    },
    content: (value, place) => {
      parts = messagesContent(value, place);
    },
    is_error: (value) => {
      failed = value === true;
    },
  });
  return { kind: "result", callId, parts, failed, cache: null, at };
}
