import { isJson, type Json } from "../exact-json.ts";
import {
  dropped,
  inexpressible,
  into,
  type LocatedBody,
  listAt,
  malformed,
  objectAt,
  oneOfAt,
  refused,
  textAt,
} from "../members.ts";
import type { BodyPlace } from "../place.ts";
import { type Part, type PartOf, type PromptTurn, plainText } from "../prompt.ts";
import { type CallIds, callIds } from "./call-ids.ts";
import { mediaPart, mediaReaders } from "./media-in.ts";
import { listedObjects, readProto } from "./proto.ts";
import { openSignature } from "./signature.ts";

/** The turns of `contents`. */
export function geminiTurns(value: unknown, at: BodyPlace): PromptTurn[] {
  const ids = callIds();
  return listedObjects(value, at).map((content) => turnOf(content, ids));
}

/** The text of `systemInstruction`, whatever role it has. */
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
    functionResponse: into(told, "parts", (value, place) => [
      resultPart({ object: objectAt(value, place), at: place }, ids),
    ]),
    videoMetadata: dropped,
    mediaResolution: dropped,
    partMetadata: dropped,
  };
  readProto(part, readers, refused);
  const { parts, thought, sealed } = told;
  const shown = thought ? parts.flatMap((one) => thoughtOf(one)) : parts;
  return [...sealed, ...shown];
}

/** A thought as it was shown; what its vendor takes back is in a signature. */
const thoughtOf = (part: Part): Part[] =>
  part.kind === "text" ? [{ kind: "thinking", text: part.text, signature: null, at: part.at }] : [part];

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

function resultPart(result: LocatedBody, ids: CallIds): Part {
  const { at } = result;
  const told: Response = { id: "", name: "", response: {}, media: [] };
  readProto(result, {
    id: into(told, "id", textAt),
    name: into(told, "name", textAt),
    response: into(told, "response", objectAt),
    parts: into(told, "media", (value, place) =>
      listAt(value, place).map((one, index) => mediaPart(one, place.item(index))),
    ),
    // Of answers that come while the model goes on.
    scheduling: dropped,
    willContinue: (value, place) => {
      if (value !== false) throw inexpressible(place);
    },
  });
  const callId = ids.answered(told.name, told.id);
  if (callId === null) throw malformed(at, "a response to a call before it");
  const { text, failed } = saidIn(told.response);
  return { kind: "result", callId, parts: [plainText(text, at), ...told.media], failed, cache: null, at };
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
