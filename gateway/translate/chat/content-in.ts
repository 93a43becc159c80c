import { isJson, type Json } from "../exact-json.ts";
import {
  ignored,
  inexpressible,
  into,
  listAt,
  type MemberReaders,
  objectAt,
  objectsAt,
  readMembers,
  textAt,
} from "../members.ts";
import { type Part, plainText } from "../prompt.ts";
import { sourceOfUrl } from "../sources.ts";

/** The parts of a chat message's `content`: one text, or a list of parts. */
export function chatContent(value: unknown, at: string): Part[] {
  if (typeof value === "string") return [plainText(value, at)];
  return objectsAt(value, at).map(({ object, at: place }) => chatPart(object, place));
}

function chatPart(object: Json, at: string): Part {
  switch (object["type"]) {
    case "text":
    case "refusal":
      return textPart(object, at);
    case "image_url":
      return imagePart(object, at);
    case "file":
      return filePart(object, at);
    default:
      throw inexpressible(at, "only text, image_url and file parts can be");
  }
}

/** Cache marks: OpenAI's own, and the messages format's, which several gateways accept in chat messages. */
export const cacheReaders = (marked: { cache: Json | null }): MemberReaders => ({
  cache_control: into(marked, "cache", objectAt),
  prompt_cache_breakpoint: into(marked, "cache", () => ({ type: "ephemeral" })),
});

function textPart(object: Json, at: string): Part {
  const part = plainText("", at);
  const text = into(part, "text", textAt);
  readMembers(object, at, { type: ignored, text, refusal: text, ...cacheReaders(part) });
  return part;
}

function imagePart(object: Json, at: string): Part {
  const image: { url: string; cache: Json | null } = { url: "", cache: null };
  readMembers(object, at, {
    type: ignored,
    image_url: (value, place) => {
      // `detail` asks for a resolution; the messages format has only one.
      readMembers(isJson(value) ? value : { url: value }, place, {
        url: into(image, "url", textAt),
        detail: ignored,
      });
    },
    ...cacheReaders(image),
  });
  const { url, cache } = image;
  return { kind: "image", source: sourceOfUrl(url, `${at}.image_url.url`), cache, at };
}

function filePart(object: Json, at: string): Part {
  const file: { data: string | null; title: string | null; cache: Json | null } = {
    data: null,
    title: null,
    cache: null,
  };
  readMembers(object, at, {
    type: ignored,
    file: (value, place) =>
      readMembers(objectAt(value, place), place, {
        file_data: into(file, "data", textAt),
        filename: into(file, "title", textAt),
      }),
    ...cacheReaders(file),
  });
  const { data, title, cache } = file;
  if (data === null) throw inexpressible(`${at}.file`, "without file_data");
  return { kind: "document", source: fileSource(data, `${at}.file.file_data`), title, cache, at };
}

/** A file's data: a `data:` URL, or bare base64 of a PDF. */
export function fileSource(data: string, at: string) {
  return /^data:/i.test(data)
    ? sourceOfUrl(data, at)
    : ({ kind: "data", mediaType: "application/pdf", data } as const);
}

/** The signed reasoning blocks of a chat message, as this gateway and others write them. */
export function reasoningDetails(value: unknown, at: string): Part[] {
  return listAt(value, at).flatMap((one, index): Part[] => {
    if (!isJson(one)) return [];
    const place = `${at}[${index}]`;
    const { text, signature, data } = one;
    if (one["type"] === "reasoning.encrypted" && typeof data === "string") {
      return [{ kind: "redacted", data, at: place }];
    }
    if (typeof text !== "string" || typeof signature !== "string" || signature === "") return [];
    return [{ kind: "thinking", text, signature, at: place }];
  });
}
