import { isJson, type Json } from "../exact-json.ts";
import { dropped, into, refused } from "../members.ts";
import { type BodyPlace, inexpressible, type LocatedBody, malformed } from "../place.ts";
import { type ContentSource, type Part, type PartOf, type PromptTurn, plainText } from "../prompt.ts";
import { openSignature } from "../thoughts.ts";
import { listAt, objectAt, oneOfAt, textAt } from "../values.ts";
import { listedObjects, readProto, readProtoObject } from "./proto.ts";

export function geminiTurns(value: unknown, at: BodyPlace): PromptTurn[] {
  const ids = callIds();
  return listedObjects(value, at).map((content) => turnOf(content, ids));
}

export const systemTurn = (value: unknown, at: BodyPlace): PromptTurn => ({
  ...turnOf({ object: objectAt(value, at), at }, callIds()),
  role: "system",
});

function turnOf(content: LocatedBody, ids: CallIds): PromptTurn {
  const turn: PromptTurn = { role: "user", parts: [], at: content.at };
  readProto(content, {
    role: into(turn, "role", (role, at) =>
      oneOfAt(role, at, ["user", "model", "function", "system"] as const) === "model" ? "assistant" : "user",
    ),
    parts: into(turn, "parts", (parts, at) => listedObjects(parts, at).flatMap((part) => partsOf(part, ids))),
  });
  if (turn.role === "assistant") turn.parts = joinedTexts(turn.parts);
  return turn;
}

/** A part of Google's: one of several members, beside others that say more of it. */
type Told = { parts: Part[]; thought: boolean; sealed: Part[] };

function partsOf(part: LocatedBody, ids: CallIds): Part[] {
  const { at } = part;
  const told: Told = { parts: [], thought: false, sealed: [] };
  const readers = {
    thought: into(told, "thought", (value) => value === true),
    thoughtSignature: into(told, "sealed", (value, place) => {
      const opened = openSignature(textAt(value, place)).map((one) => ({ ...one, at: place }));
      // Another vendor's model cannot use it.
      if (opened.length === 0) place.drop();
      return opened;
    }),
    text: into(told, "parts", (value) => [plainText(textAt(value, at), at)]),
    inlineData: into(told, "parts", mediaReaders.inlineData),
    fileData: into(told, "parts", mediaReaders.fileData),
    functionCall: into(told, "parts", (value, place) => [
      callPart({ object: objectAt(value, place), at: place }, ids),
    ]),
    functionResponse: into(told, "parts", (value, place) =>
      resultParts({ object: objectAt(value, place), at: place }, ids),
    ),
    videoMetadata: dropped,
    mediaResolution: dropped,
    partMetadata: dropped,
  };
  readProto(part, readers, refused);
  const { parts, thought, sealed } = told;
  // A thought as it was shown; what its vendor takes back is in a signature.
  return [...sealed, ...(thought ? parts.filter(({ kind }) => kind !== "text") : parts)];
}

/** Texts that a stream cut, as one. */
function joinedTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (part.kind === "text" && before?.kind === "text") {
      joined[joined.length - 1] = { ...before, text: before.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

function callPart(call: LocatedBody, ids: CallIds): Part {
  const part: PartOf<"call"> = { kind: "call", id: "", name: "", input: "{}", cache: null, at: call.at };
  readProto(call, {
    id: into(part, "id", textAt),
    name: into(part, "name", textAt),
    args: into(part, "input", (value) => JSON.stringify(value)),
  });
  if (part.name === "") throw malformed(call.at.member("name"), "a string");
  return { ...part, id: ids.called(part.name, part.id) };
}

type Response = { id: string; name: string; response: Json; media: Part[] };

/** None where it repeats another, as those of a session do that Gemini CLI resumes. */
function resultParts(result: LocatedBody, ids: CallIds): Part[] {
  const { at } = result;
  const told: Response = { id: "", name: "", response: {}, media: [] };
  readProto(result, {
    id: into(told, "id", textAt),
    name: into(told, "name", textAt),
    response: into(told, "response", objectAt),
    parts: into(told, "media", (value, place) =>
      listAt(value, place).map((one, index) => mediaPart(one, place.item(index))),
    ),
    // For answers that arrive while the model continues.
    scheduling: dropped,
    willContinue: (value, place) => {
      if (value !== false) throw inexpressible(place);
    },
  });
  const callId = ids.answered(told.name, told.id);
  if (callId === null) {
    if (!ids.isAnswered(told.id)) throw malformed(at, "a response to a call before it");
    at.drop();
    return [];
  }
  const { text, failed } = saidIn(told.response);
  return [{ kind: "result", callId, parts: [plainText(text, at), ...told.media], failed, cache: null, at }];
}

/** By Google's convention `output` is the result and `error` a failure; any other object is the result itself. */
function saidIn(response: Json): { text: string; failed: boolean } {
  const names = Object.keys(response);
  const [name] = names;
  const only = names.length === 1 && name !== undefined ? response[name] : undefined;
  if (name === "error" && only !== undefined) return { text: textOf(only), failed: true };
  return { text: name === "output" && only !== undefined ? textOf(only) : textOf(response), failed: false };
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(isJson(value) ? value : (value ?? null));

type Media = { mimeType: string; data: string; uri: string; name: string | null };

function mediaIn(value: unknown, at: BodyPlace): Media {
  const media: Media = { mimeType: "", data: "", uri: "", name: null };
  readProtoObject(value, at, {
    mimeType: into(media, "mimeType", textAt),
    data: into(media, "data", textAt),
    fileUri: into(media, "uri", textAt),
    displayName: into(media, "name", textAt),
  });
  return media;
}

function inlineData(value: unknown, at: BodyPlace): Part[] {
  const media = mediaIn(value, at);
  const { mimeType, data } = media;
  if (!mimeType.startsWith("text/")) return [partOf(media, { kind: "data", mediaType: mimeType, data }, at)];
  return [partOf(media, { kind: "text", text: Buffer.from(data, "base64").toString() }, at)];
}

/** Google's own stores, which no other vendor reads. */
const STORED = /^gs:|^https:\/\/generativelanguage\.googleapis\.com\//;

function fileData(value: unknown, at: BodyPlace): Part[] {
  const media = mediaIn(value, at);
  const { uri } = media;
  if (STORED.test(uri) || !/^https?:/i.test(uri)) {
    throw inexpressible(at.member("fileUri"), "the file is in another vendor's store");
  }
  return [partOf(media, { kind: "url", url: uri }, at)];
}

function partOf({ mimeType, name }: Media, source: ContentSource, at: BodyPlace): Part {
  if (mimeType.startsWith("image/")) return { kind: "image", source, cache: null, at };
  if (/^(?:application\/pdf$|text\/|audio\/)/.test(mimeType)) {
    return { kind: "document", source, title: name, cache: null, at };
  }
  throw inexpressible(at, "only images, PDFs, texts and sound can be");
}

const mediaReaders = { inlineData, fileData };

/** Media beside a function's response. */
function mediaPart(value: unknown, at: BodyPlace): Part {
  const found: { parts: Part[] } = { parts: [] };
  readProtoObject(value, at, {
    inlineData: into(found, "parts", inlineData),
    fileData: into(found, "parts", fileData),
    partMetadata: dropped,
  });
  const [part] = found.parts;
  if (!part) throw inexpressible(at);
  return part;
}

/** Gives each call and its response one id: Gemini's may have none, and then belong together by name and order. */
type CallIds = {
  called(name: string, id: string): string;
  /** The id of the call that a response answers, or null. */
  answered(name: string, id: string): string | null;
  isAnswered(id: string): boolean;
};

type Waiting = { name: string; id: string; own: boolean };

function callIds(): CallIds {
  const waiting: Waiting[] = [];
  const answered = new Set<string>();
  let count = 0;
  const takeFirst = (fits: (call: Waiting) => boolean): string | null => {
    const index = waiting.findIndex(fits);
    const [call] = index === -1 ? [] : waiting.splice(index, 1);
    if (call) answered.add(call.id);
    return call?.id ?? null;
  };
  return {
    called(name, id) {
      count += 1;
      const call = { name, id: id || `call_${count}`, own: id === "" };
      waiting.push(call);
      return call.id;
    },
    answered: (name, id) =>
      (id ? takeFirst((call) => !call.own && call.id === id) : null) ??
      // A client may number responses itself where the call had no id.
      takeFirst((call) => call.name === name && (call.own || id === "")),
    isAnswered: (id) => answered.has(id),
  };
}
