import { isJson, type Json, wordOf } from "../exact-json.ts";
import type { MemberReader, MemberReaders } from "../members.ts";
import { dropped, ignored, into, lost, readMembers, readObject } from "../members.ts";
import { type BodyPlace, inexpressible, type LocatedBody } from "../place.ts";
import { type ContentSource, type Part, plainText } from "../prompt.ts";
import { sourceOfUrl } from "../sources.ts";
import { openSealed } from "../thoughts.ts";
import { listAt, objectAt, objectsAt, textAt } from "../values.ts";

export const chatContent = (value: unknown, at: BodyPlace): Part[] => contentParts(value, at, lost);

/** The same of an earlier answer, where members without a counterpart are echoes of it. */
export const answerContent = (value: unknown, at: BodyPlace): Part[] => contentParts(value, at, dropped);

function contentParts(value: unknown, at: BodyPlace, otherwise: MemberReader): Part[] {
  if (typeof value === "string") return [plainText(value, at)];
  return objectsAt(value, at).flatMap((part) => {
    // Mistral's, which no other vendor reads.
    const isThought = part.object["type"] === "thinking" && otherwise === dropped;
    return isThought ? (part.at.drop() ?? []) : [chatPart(part, otherwise)];
  });
}

function chatPart({ object, at }: LocatedBody, otherwise: MemberReader): Part {
  switch (object["type"]) {
    case "text":
    case "refusal":
      return textPart({ object, at }, otherwise);
    case "image_url":
      return imagePart(object, at);
    case "file":
      return filePart(object, at);
    case "input_audio":
      return soundPart(object, at);
    default:
      throw inexpressible(at, "only text, image_url, input_audio and file parts can be");
  }
}

/** Cache marks: OpenAI's own, and the messages format's, which several gateways accept in chat messages. */
export const cacheReaders = (marked: { cache: Json | null }): MemberReaders => ({
  cache_control: into(marked, "cache", objectAt),
  prompt_cache_breakpoint: into(marked, "cache", () => ({ type: "ephemeral" })),
});

function textPart({ object, at }: LocatedBody, otherwise: MemberReader): Part {
  const part = plainText("", at);
  const text = into(part, "text", textAt);
  const refused = object["type"] === "refusal" ? text : dropped;
  readMembers({ object, at }, { type: ignored, text, refusal: refused, ...cacheReaders(part) }, otherwise);
  return part;
}

/** What a part says of a picture or a file. */
type Media = { source: ContentSource | null; title: string | null; cache: Json | null };
export const unreadMedia = (): Media => ({ source: null, title: null, cache: null });

export const urlInto = (media: Media): MemberReader =>
  into(media, "source", (value, at) => sourceOfUrl(textAt(value, at), at));

export const fileReaders = (file: Media): MemberReaders => ({
  filename: into(file, "title", textAt),
  file_data: into(file, "source", (value, at) => fileSource(textAt(value, at), at)),
});

/** @throws GatewayError invalid_request if it has no source. */
export function mediaPart(kind: "image" | "document", { source, title, cache }: Media, at: BodyPlace): Part {
  if (!source) throw inexpressible(at, "without its data or its address");
  return kind === "image" ? { kind, source, cache, at } : { kind, source, title, cache, at };
}

function imagePart(object: Json, at: BodyPlace): Part {
  const image = unreadMedia();
  readObject(object, at, {
    type: ignored,
    // `detail` asks for a resolution; the messages format has only one.
    image_url: (value, place) =>
      readObject(isJson(value) ? value : { url: value }, place, { url: urlInto(image), detail: dropped }),
    ...cacheReaders(image),
  });
  return mediaPart("image", image, at);
}

function filePart(object: Json, at: BodyPlace): Part {
  const file = unreadMedia();
  readObject(object, at, {
    type: ignored,
    file: (value, place) => readObject(value, place, fileReaders(file)),
    ...cacheReaders(file),
  });
  return mediaPart("document", file, at);
}

function soundPart(object: Json, at: BodyPlace): Part {
  const sound = { data: "", format: "" };
  readObject(object, at, {
    type: ignored,
    input_audio: (value, place) =>
      readObject(value, place, {
        data: into(sound, "data", textAt),
        format: into(sound, "format", textAt),
      }),
  });
  const source = { kind: "data", mediaType: `audio/${sound.format}`, data: sound.data } as const;
  return { kind: "document", source, title: null, cache: null, at };
}

/** A file's data: a `data:` URL, or bare base64 of a PDF. */
function fileSource(data: string, at: BodyPlace) {
  return /^data:/i.test(data)
    ? sourceOfUrl(data, at)
    : ({ kind: "data", mediaType: "application/pdf", data } as const);
}

/** The signed reasoning blocks of a chat message, as this gateway and others write them. */
export function reasoningDetails(value: unknown, at: BodyPlace): Thought[] {
  return listAt(value, at).flatMap((one, order): Thought[] => {
    const index = isJson(one) && typeof one["index"] === "number" ? one["index"] : order;
    return thoughtParts(one, at.item(order)).map((part) => ({ part, index }));
  });
}

/** A thought and its place among the blocks of its message. */
export type Thought = { part: Part; index: number };

function thoughtParts(one: unknown, place: BodyPlace): Part[] {
  if (!isJson(one)) return [];
  const { text, signature, data } = one;
  const [sealed] = openSealed(wordOf(data ?? signature ?? ""));
  if (sealed) return [{ ...sealed, at: place }];
  // OpenRouter says in which vendor's format they are.
  const from = wordOf(one["format"] ?? "anthropic").startsWith("anthropic") ? "anthropic" : "other";
  if (one["type"] === "reasoning.encrypted" && typeof data === "string") {
    return [{ kind: "redacted", data, from, at: place }];
  }
  if (typeof text !== "string" || typeof signature !== "string" || signature === "") return [];
  return [{ kind: "thinking", text, signature, from, at: place }];
}
