import { cacheReaders, fileReaders, mediaPart, unreadMedia, urlInto } from "../chat/content-in.ts";
import type { Json } from "../exact-json.ts";
import { dropped, ignored, into, type MemberReaders, readObject } from "../members.ts";
import { type BodyPlace, inexpressible, malformed } from "../place.ts";
import { type Part, type PartOf, type PromptTurn, plainText } from "../prompt.ts";
import { openSealed } from "../thoughts.ts";
import { objectsAt, oneOfAt, textAt } from "../values.ts";
import { clientToolPart, isVendorRan } from "./tool-items-in.ts";
import { flatName } from "./tools-in.ts";

/** An item's state in a conversation that the format's own provider keeps. */
const ITEM_STATE: MemberReaders = { type: ignored, id: ignored, status: ignored, phase: ignored };

/** The turns of `input`: one text, or a list of items. */
export function responsesTurns(value: unknown, at: BodyPlace): PromptTurn[] {
  if (typeof value === "string") {
    return [{ role: "user", parts: [plainText(value, at)], at }];
  }
  return joined(objectsAt(value, at).flatMap(({ object, at: place }) => itemTurn(object, place)));
}

/** Joins the items that are one message in the other formats: a model's output, or the results of its calls. */
function joined(turns: readonly PromptTurn[]): PromptTurn[] {
  const result: PromptTurn[] = [];
  for (const turn of turns) {
    const before = result.at(-1);
    const together =
      before?.role === turn.role && kindOf(before) === kindOf(turn) && kindOf(turn) !== "words";
    if (before && together) before.parts.push(...turn.parts);
    else result.push(turn);
  }
  return result;
}

function kindOf({ role, parts }: PromptTurn): "words" | "answer" | "results" {
  if (role === "assistant") return "answer";
  return parts.every(({ kind }) => kind === "result") ? "results" : "words";
}

function itemTurn(item: Json, at: BodyPlace): PromptTurn[] {
  switch (item["type"] ?? "message") {
    case "message":
      return [messageTurn(item, at)];
    case "function_call":
      return [{ role: "assistant", parts: [functionCall(item, at)], at }];
    case "function_call_output":
      return [{ role: "user", parts: [callOutput(item, at)], at }];
    case "reasoning":
      return reasoningTurn(item, at);
    // Ask for a compaction (compaction.ts), and offer tools (tools-in.ts).
    case "compaction_trigger":
    case "additional_tools":
      return [];
    case "item_reference":
      throw inexpressible(at.member("id"), ELSEWHERE);
    case "compaction":
      throw inexpressible(at.member("type"), "only the vendor that compacted the conversation can read it");
    default:
      return toolTurn(item, at);
  }
}

function toolTurn(item: Json, at: BodyPlace): PromptTurn[] {
  const part = clientToolPart(item, at);
  if (part) return [{ role: part.kind === "call" ? "assistant" : "user", parts: [part], at }];
  if (isVendorRan(item["type"])) {
    at.drop();
    return [];
  }
  throw inexpressible(at.member("type"), "only messages, calls and their outputs, and reasoning can be");
}

/** What was said before, in the store of the vendor that answered. */
export const ELSEWHERE = "another vendor keeps it; send the items themselves, as with `store: false`";

const ROLES = ["user", "assistant", "system", "developer"] as const;

function messageTurn(item: Json, at: BodyPlace): PromptTurn {
  const role = oneOfAt(item["role"], at.member("role"), ROLES);
  const turn: PromptTurn = { role: role === "developer" ? "system" : role, parts: [], at };
  readObject(item, at, { ...ITEM_STATE, role: ignored, content: into(turn, "parts", itemContent) });
  return turn;
}

function itemContent(value: unknown, at: BodyPlace): Part[] {
  if (typeof value === "string") return [plainText(value, at)];
  return objectsAt(value, at).map(({ object, at: place }) => contentPart(object, place));
}

function contentPart(part: Json, at: BodyPlace): Part {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "refusal":
      return textPart(part, at);
    case "input_image":
      return imagePart(part, at);
    case "input_file":
      return filePart(part, at);
    default:
      throw inexpressible(at.member("type"));
  }
}

function textPart(object: Json, at: BodyPlace): Part {
  const part = plainText("", at);
  const text = into(part, "text", textAt);
  readObject(object, at, {
    type: ignored,
    text,
    refusal: text,
    annotations: dropped,
    logprobs: dropped,
    parsed: dropped,
    ...cacheReaders(part),
  });
  return part;
}

function imagePart(object: Json, at: BodyPlace): Part {
  const image = unreadMedia();
  const readers = { image_url: urlInto(image), ...cacheReaders(image) };
  readObject(object, at, { type: ignored, detail: dropped, ...readers });
  return mediaPart("image", image, at);
}

function filePart(object: Json, at: BodyPlace): Part {
  const file = unreadMedia();
  const readers = { ...fileReaders(file), file_url: urlInto(file), ...cacheReaders(file) };
  readObject(object, at, { type: ignored, detail: dropped, ...readers });
  return mediaPart("document", file, at);
}

function functionCall(item: Json, at: BodyPlace): Part {
  const call: PartOf<"call"> = { kind: "call", id: "", name: "", input: "", cache: null, at };
  const within = { namespace: "" };
  readObject(item, at, {
    ...ITEM_STATE,
    call_id: into(call, "id", textAt),
    name: into(call, "name", textAt),
    arguments: into(call, "input", textAt),
    namespace: into(within, "namespace", textAt),
    // OpenAI's SDK adds it to what it streams.
    parsed_arguments: dropped,
  });
  if (call.name === "" || call.id === "") throw malformed(at, "a call with call_id and name");
  return within.namespace === "" ? call : { ...call, name: flatName(within.namespace, call.name) };
}

function callOutput(item: Json, at: BodyPlace): Part {
  const result: PartOf<"result"> = { kind: "result", callId: "", parts: [], failed: false, cache: null, at };
  readObject(item, at, {
    ...ITEM_STATE,
    // The call's id identifies the output's call.
    name: ignored,
    call_id: into(result, "callId", textAt),
    output: into(result, "parts", itemContent),
  });
  if (result.callId === "") throw malformed(at.member("call_id"), "a string");
  return result;
}

/** Reasoning that this gateway packed goes back to its vendor. Any other is readable by its own vendor only. */
function reasoningTurn(item: Json, at: BodyPlace): PromptTurn[] {
  const turn: PromptTurn = { role: "assistant", parts: [], at };
  readObject(item, at, {
    ...ITEM_STATE,
    summary: ignored,
    content: ignored,
    encrypted_content: into(turn, "parts", (value, place) =>
      openSealed(textAt(value, place)).map((part) => ({ ...part, at: place })),
    ),
  });
  return turn.parts.length > 0 ? [turn] : [];
}
