import { dropped, inexpressible, into, objectAt, textAt } from "../members.ts";
import type { BodyPlace } from "../place.ts";
import type { ContentSource, Part } from "../prompt.ts";
import { readProto } from "./proto.ts";

type Media = { mimeType: string; data: string; uri: string; name: string | null };

const nothing = (): Media => ({ mimeType: "", data: "", uri: "", name: null });

function inlineData(value: unknown, at: BodyPlace): Part[] {
  const media = nothing();
  readProto(
    { object: objectAt(value, at), at },
    {
      mimeType: into(media, "mimeType", textAt),
      data: into(media, "data", textAt),
      displayName: into(media, "name", textAt),
    },
  );
  const { mimeType, data } = media;
  if (!mimeType.startsWith("text/")) return [partOf(media, { kind: "data", mediaType: mimeType, data }, at)];
  return [partOf(media, { kind: "text", text: Buffer.from(data, "base64").toString() }, at)];
}

/** Google's own stores, which no other vendor reads. */
const STORED = /^gs:|^https:\/\/generativelanguage\.googleapis\.com\//;

function fileData(value: unknown, at: BodyPlace): Part[] {
  const media = nothing();
  readProto(
    { object: objectAt(value, at), at },
    {
      mimeType: into(media, "mimeType", textAt),
      fileUri: into(media, "uri", textAt),
      displayName: into(media, "name", textAt),
    },
  );
  const { uri } = media;
  if (STORED.test(uri) || !/^https?:/i.test(uri)) {
    throw inexpressible(at.member("fileUri"), "the file is in another vendor's store");
  }
  return [partOf(media, { kind: "url", url: uri }, at)];
}

function partOf({ mimeType, name }: Media, source: ContentSource, at: BodyPlace): Part {
  if (mimeType.startsWith("image/")) return { kind: "image", source, cache: null, at };
  if (mimeType === "application/pdf" || mimeType.startsWith("text/")) {
    return { kind: "document", source, title: name, cache: null, at };
  }
  throw inexpressible(at, "only images, PDFs and texts can be");
}

export const mediaReaders = { inlineData, fileData };

/** Media beside a function's response. */
export function mediaPart(value: unknown, at: BodyPlace): Part {
  const found: { parts: Part[] } = { parts: [] };
  readProto(
    { object: objectAt(value, at), at },
    {
      inlineData: into(found, "parts", inlineData),
      fileData: into(found, "parts", fileData),
      partMetadata: dropped,
    },
  );
  const [part] = found.parts;
  if (!part) throw inexpressible(at);
  return part;
}
