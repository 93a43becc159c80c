import { cacheInto, marked } from "../common-members.ts";
import { isJson, type Json, wordOf } from "../exact-json.ts";
import { dropped, ignored, into, type MemberReaders, neutral, readObject } from "../members.ts";
import { type BodyPlace, inexpressible, malformed } from "../place.ts";
import { type ContentSource, type Part, type PartOf, plainText } from "../prompt.ts";
import { openSealed } from "../thoughts.ts";
import { objectAt, objectsAt, textAt } from "../values.ts";

/** The parts of a message's `content`: one text, or a list of blocks. */
export function messagesContent(value: unknown, at: BodyPlace): Part[] {
  if (typeof value === "string") return [plainText(value, at)];
  return objectsAt(value, at).flatMap(({ object, at: place }) => blockParts(object, place));
}

/** A tool that the vendor ran itself, or its result; the model's use of it follows as text. */
const isVendorRan = (type: unknown): boolean =>
  typeof type === "string" && (/^(?:server|mcp)_tool_use$/.test(type) || type.endsWith("_tool_result"));

function blockParts(block: Json, at: BodyPlace): Part[] {
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
      return [thought(wordOf(block["thinking"] ?? ""), wordOf(block["signature"] ?? ""), at)];
    case "redacted_thinking":
      return [redacted(wordOf(block["data"] ?? ""), at)];
    case "tool_reference":
      return [
        plainText(
          `The tool ${textAt(block["tool_name"], at.member("tool_name"))} is offered from now on.`,
          at,
        ),
      ];
    case "search_result":
      return searchResult(block, at);
    default:
      if (!isVendorRan(block["type"])) throw inexpressible(at, "the type of the block has no counterpart");
      at.drop();
      return [];
  }
}

/** A thought that this gateway sealed, or one that the format's vendor signed; without a signature its maker is unknown. */
const thought = (text: string, signature: string, at: BodyPlace): Part => ({
  ...(openSealed(signature)[0] ?? {
    kind: "thinking",
    text,
    signature: signature || null,
    from: signature === "" ? null : "anthropic",
  }),
  at,
});

const redacted = (data: string, at: BodyPlace): Part => ({
  ...(openSealed(data)[0] ?? { kind: "redacted", data, from: "anthropic" }),
  at,
});

const marksOf = (marked: { cache: Json | null }): MemberReaders => ({
  type: ignored,
  cache_control: cacheInto(marked),
});

function textBlock(block: Json, at: BodyPlace): Part {
  const part = plainText("", at);
  // Citations say where an earlier answer found its text; the text itself stays.
  readObject(block, at, { ...marksOf(part), text: into(part, "text", textAt), citations: dropped });
  return part;
}

function imageBlock(block: Json, at: BodyPlace): Part {
  const image: { source: ContentSource | null; cache: Json | null } = { source: null, cache: null };
  readObject(block, at, { ...marksOf(image), source: into(image, "source", sourceAt) });
  if (!image.source) throw malformed(at.member("source"), "an object");
  return { kind: "image", source: image.source, cache: image.cache, at };
}

function sourceAt(value: unknown, at: BodyPlace): ContentSource {
  const source = objectAt(value, at);
  switch (source["type"]) {
    case "base64":
      return {
        kind: "data",
        mediaType: textAt(source["media_type"], at.member("media_type")),
        data: textAt(source["data"], at.member("data")),
      };
    case "url":
      return { kind: "url", url: textAt(source["url"], at.member("url")) };
    case "text":
      return { kind: "text", text: textAt(source["data"], at.member("data")) };
    default:
      throw inexpressible(at.member("type"), "the file is in another vendor's store");
  }
}

type DocumentBlock = { title: string | null; context: Part[]; parts: Part[]; cache: Json | null };

/** A document, or the blocks that it consists of, after its context as text. */
function documentParts(block: Json, at: BodyPlace): Part[] {
  const document: DocumentBlock = { title: null, context: [], parts: [], cache: null };
  readObject(block, at, {
    ...marksOf(document),
    title: into(document, "title", textAt),
    context: into(document, "context", (value, place) => [plainText(textAt(value, place), place)]),
    citations: neutral({ enabled: false }),
    source: into(document, "parts", (value, place): Part[] => {
      const source = objectAt(value, place);
      return source["type"] === "content"
        ? messagesContent(source["content"], place.member("content"))
        : [{ kind: "document", source: sourceAt(source, place), title: null, cache: null, at }];
    }),
  });
  const { title, context, parts } = document;
  const isWhole = parts.some(({ kind }) => kind === "document");
  const heading = title === null || isWhole ? [] : [plainText(title, at)];
  const titled = parts.map((part) => (part.kind === "document" ? { ...part, title } : part));
  return [...context, ...heading, ...marked({ ...document, parts: titled })];
}

/** A source that the client found, as text: other formats cannot cite it. */
function searchResult(block: Json, at: BodyPlace): Part[] {
  const found: { title: string; source: string; parts: Part[]; cache: Json | null } = {
    title: "",
    source: "",
    parts: [],
    cache: null,
  };
  readObject(block, at, {
    ...marksOf(found),
    title: into(found, "title", textAt),
    source: into(found, "source", textAt),
    content: into(found, "parts", messagesContent),
    citations: dropped,
  });
  return [plainText(`${found.title} (${found.source})`, at), ...marked(found)];
}

function toolUse(block: Json, at: BodyPlace): Part {
  const call: PartOf<"call"> = { kind: "call", id: "", name: "", input: "{}", cache: null, at };
  readObject(block, at, {
    ...marksOf(call),
    id: into(call, "id", textAt),
    name: into(call, "name", textAt),
    input: into(call, "input", (value) => JSON.stringify(value)),
    // Who called: the model itself, or code that it ran at the vendor.
    caller: (value, place) => {
      if (!isJson(value) || value["type"] !== "direct") throw inexpressible(place);
    },
  });
  return call;
}

function toolResult(block: Json, at: BodyPlace): Part {
  const result: PartOf<"result"> = { kind: "result", callId: "", parts: [], failed: false, cache: null, at };
  readObject(block, at, {
    ...marksOf(result),
    tool_use_id: into(result, "callId", textAt),
    content: into(result, "parts", messagesContent),
    is_error: into(result, "failed", (value) => value === true),
  });
  return result;
}
