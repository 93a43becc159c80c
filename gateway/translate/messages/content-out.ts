import { type BodyPlace, inexpressible } from "../place.ts";
import type { ContentSource, Part, PartOf, PromptTurn } from "../prompt.ts";
import { argumentsObject } from "../tool-arguments.ts";

/** A turn's blocks: tool results first; texts of white space alone, which the vendor refuses, are left out. */
export function blocksOf(turn: PromptTurn): object[] {
  const [results, rest] = [
    turn.parts.filter(({ kind }) => kind === "result"),
    turn.parts.filter(({ kind }) => kind !== "result"),
  ];
  return [...results, ...rest].flatMap(blocksOfPart);
}

/** All instructions in one, as the vendor's own chat endpoint does: where they stood is not kept. */
export function systemBlocks(turns: readonly PromptTurn[]): object[] {
  return turns.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.kind !== "text") throw inexpressible(part.at);
      return blocksOfPart(part);
    }),
  );
}

function blocksOfPart(part: Part): object[] {
  switch (part.kind) {
    case "text":
      return part.text.trim() === "" ? [] : [{ type: "text", text: part.text, ...markOf(part) }];
    case "image":
      return [{ type: "image", source: imageSource(part.source, part.at), ...markOf(part) }];
    case "document":
      return [documentBlock(part)];
    case "thinking":
      return part.signature ? [{ type: "thinking", thinking: part.text, signature: part.signature }] : [];
    case "extra":
      return [];
    case "redacted":
      return [{ type: "redacted_thinking", data: part.data }];
    case "call":
      return [callBlock(part)];
    case "result":
      return [resultBlock(part)];
  }
}

const markOf = ({ cache }: { cache: PartOf<"text">["cache"] }) => (cache ? { cache_control: cache } : {});

const IMAGE_TYPES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function imageSource(source: ContentSource, at: BodyPlace): object {
  if (source.kind === "url") return { type: "url", url: source.url };
  if (source.kind !== "data") throw inexpressible(at);
  const mediaType = source.mediaType === "image/jpg" ? "image/jpeg" : source.mediaType;
  if (!IMAGE_TYPES.has(mediaType)) throw inexpressible(at, "an image must be JPEG, PNG, GIF or WebP");
  return { type: "base64", media_type: mediaType, data: source.data };
}

function documentBlock(part: PartOf<"document">): object {
  return {
    type: "document",
    source: documentSource(part.source, part.at),
    ...(part.title === null ? {} : { title: part.title }),
    ...markOf(part),
  };
}

function documentSource(source: ContentSource, at: BodyPlace): object {
  if (source.kind === "url") return { type: "url", url: source.url };
  if (source.kind === "text") return { type: "text", media_type: "text/plain", data: source.text };
  if (source.mediaType === "application/pdf") {
    return { type: "base64", media_type: source.mediaType, data: source.data };
  }
  if (source.mediaType.startsWith("text/")) {
    return { type: "text", media_type: "text/plain", data: Buffer.from(source.data, "base64").toString() };
  }
  throw inexpressible(at, "a file must be a PDF or text");
}

/** The form of a tool call's id in the messages format. */
const FITS = /^[A-Za-z0-9_-]+$/;

/** A tool call's id as the messages format takes it; the same id always gives the same one. */
const fittingToolId = (id: string): string =>
  FITS.test(id) ? id : `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40)}_${Bun.hash(id).toString(36)}`;

function callBlock(call: PartOf<"call">): object {
  return {
    type: "tool_use",
    id: fittingToolId(call.id),
    name: call.name,
    input: argumentsObject(call.input),
    ...markOf(call),
  };
}

function resultBlock(result: PartOf<"result">): object {
  const content = result.parts.flatMap(blocksOfPart);
  return {
    type: "tool_result",
    tool_use_id: fittingToolId(result.callId),
    ...(content.length > 0 ? { content } : {}),
    ...(result.failed ? { is_error: true } : {}),
    ...markOf(result),
  };
}
