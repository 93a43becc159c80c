import { isJson, type Json } from "../exact-json.ts";
import {
  ignored,
  inexpressible,
  listAt,
  objectAt,
  objectsAt,
  readMembers,
  type Takes,
  textAt,
} from "../members.ts";
import type { Part } from "../prompt.ts";
import { sourceOfUrl } from "../sources.ts";

/** The parts of a chat message's `content`: one text, or a list of parts. */
export function chatContent(value: unknown, at: string): Part[] {
  if (typeof value === "string") return [{ kind: "text", text: value, cache: null, at }];
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

/** Cache marks: OpenAI's own, and the messages format's as several gateways take it in chat messages. */
export const cacheTakes = (set: (mark: Json) => void): Takes => ({
  cache_control: (value, at) => set(objectAt(value, at)),
  prompt_cache_breakpoint: () => set({ type: "ephemeral" }),
});

function textPart(object: Json, at: string): Part {
  let text = "";
  let cache: Json | null = null;
  readMembers(object, at, {
    type: ignored,
    text: (value, place) => {
      text = textAt(value, place);
    },
    refusal: (value, place) => {
      text = textAt(value, place);
    },
    ...cacheTakes((mark) => {
      cache = mark;
    }),
  });
  return { kind: "text", text, cache, at };
}

function imagePart(object: Json, at: string): Part {
  let url = "";
  let cache: Json | null = null;
  readMembers(object, at, {
    type: ignored,
    image_url: (value, place) => {
      readMembers(isJson(value) ? value : { url: value }, place, {
        url: (address, where) => {
          url = textAt(address, where);
        },
        // A hint at the resolution: the messages format has one way to look at an image.
        detail: ignored,
      });
    },
    ...cacheTakes((mark) => {
      cache = mark;
    }),
  });
  return { kind: "image", source: sourceOfUrl(url, `${at}.image_url.url`), cache, at };
}

function filePart(object: Json, at: string): Part {
  let data: string | null = null;
  let title: string | null = null;
  let cache: Json | null = null;
  readMembers(object, at, {
    type: ignored,
    file: (value, place) =>
      readMembers(objectAt(value, place), place, {
        file_data: (content, where) => {
          data = textAt(content, where);
        },
        filename: (name, where) => {
          title = textAt(name, where);
        },
      }),
    ...cacheTakes((mark) => {
      cache = mark;
    }),
  });
  if (data === null) throw inexpressible(`${at}.file`, "without file_data");
  return { kind: "document", source: fileSource(data, `${at}.file.file_data`), title, cache, at };
}

/** A file's data: a `data:` URL, or bare base64 of a PDF. */
export function fileSource(data: string, at: string) {
  return /^data:/i.test(data)
    ? sourceOfUrl(data, at)
    : ({ kind: "data", mediaType: "application/pdf", data } as const);
}

/** What a chat message says of the reasoning behind it, as this gateway and others write it: signed blocks only. */
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
