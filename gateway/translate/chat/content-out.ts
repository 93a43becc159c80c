import { inexpressible } from "../place.ts";
import type { Part, PartOf } from "../prompt.ts";
import { soundIn, titledText, urlOfSource } from "../sources.ts";

/** Whether a part has a cache mark that the provider takes. */
export const isMarked = (parts: readonly Part[], marks: boolean): boolean =>
  marks && parts.some((part) => "cache" in part && part.cache);

export const markOf = (part: Part, marks: boolean): object =>
  marks && "cache" in part && part.cache ? { cache_control: part.cache } : {};

/** A message's content: a text alone, or a list of parts. */
export function contentOf(parts: readonly Part[], marks: boolean): string | object[] {
  const [only] = parts;
  if (parts.length === 0) return "";
  if (parts.length === 1 && only?.kind === "text" && !isMarked(parts, marks)) return only.text;
  return parts.map((part) => ({ ...contentPart(part), ...markOf(part, marks) }));
}

function contentPart(part: Part): object {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: { url: urlOfSource(part.source, part.at) } };
    case "document":
      return documentPart(part);
    default:
      throw inexpressible(part.at);
  }
}

function documentPart({ source, title, at }: PartOf<"document">): object {
  if (source.kind === "text") return { type: "text", text: titledText(title, source.text) };
  if (source.kind === "url") throw inexpressible(at, "a document must be in the request itself");
  const sound = soundIn(source);
  if (sound) return { type: "input_audio", input_audio: sound };
  return { type: "file", file: { filename: title ?? "document.pdf", file_data: urlOfSource(source, at) } };
}
