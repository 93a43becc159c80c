import { type BlockSerializer, blockSerializer } from "../chat/block-serializer.ts";
import { readProviderError } from "../error-shapes.ts";
import {
  isJson,
  type Json,
  objectMember,
  objectsIn,
  type StepReader,
  textIn,
  wordOf,
} from "../exact-json.ts";
import type { OpenBlock, ReplyStep } from "../reply.ts";
import { sourcesIn, urlCitation } from "../web-search.ts";

/** What has come of a stream. `sealed`: the packed thoughts of items, by their places. */
type Seen = {
  blocks: BlockSerializer;
  sealed: Map<unknown, string>;
  written: Set<string>;
  calls: number;
  refused: string;
  began: boolean;
};

const nothingSeen = (): Seen => ({
  blocks: blockSerializer(),
  sealed: new Map(),
  written: new Set(),
  calls: 0,
  refused: "",
  began: false,
});

/** The steps of a complete response; empty for anything else. */
export function responseSteps(response: Json): ReplyStep[] {
  if (!Array.isArray(response["output"])) return [];
  const seen = nothingSeen();
  return [
    startOf(response),
    ...objectsIn(response, "output").flatMap((item, place) => wholeItem(seen, item, place)),
    ...ending(seen, response),
  ];
}

const startOf = (response: Json | null): ReplyStep => ({
  kind: "start",
  id: textIn(response, "id") ?? "",
  model: textIn(response, "model") ?? "",
});

/** Reads a stream of response events. Items of tools that the vendor ran are skipped: other formats cannot request them. */
export function responseStream(): StepReader {
  const seen = nothingSeen();
  const more = (event: Json, kind: "text" | "refusal" | "thinking", part = "") =>
    add(seen, {
      key: `${kind} ${wordOf(event["output_index"])} ${part}`,
      open: () => ({ kind }),
      text: textIn(event, "delta") ?? "",
    });
  const take: Record<string, (event: Json) => ReplyStep[]> = {
    "response.created": (event) => [startOf(objectMember(event, "response"))],
    "response.output_item.added": (event) =>
      itemAdded(seen, objectMember(event, "item") ?? {}, event["output_index"]),
    "response.output_text.delta": (event) => more(event, "text", wordOf(event["content_index"])),
    "response.refusal.delta"(event) {
      seen.refused += textIn(event, "delta") ?? "";
      return more(event, "refusal", wordOf(event["content_index"]));
    },
    "response.reasoning_summary_part.added": (event) =>
      event["summary_index"] === 0 ? [] : thought(seen, event["output_index"], "\n\n"),
    "response.reasoning_summary_text.delta": (event) =>
      thought(seen, event["output_index"], textIn(event, "delta") ?? ""),
    "response.reasoning_text.delta": (event) =>
      thought(seen, event["output_index"], textIn(event, "delta") ?? ""),
    "response.function_call_arguments.delta": (event) =>
      add(seen, {
        key: callKey(event["output_index"]),
        open: NEVER_OPENED,
        text: textIn(event, "delta") ?? "",
      }),
    "response.output_item.done": (event) =>
      wholeItem(seen, objectMember(event, "item") ?? {}, event["output_index"]),
    "response.completed": (event) => ending(seen, objectMember(event, "response") ?? {}),
    "response.incomplete": (event) => ending(seen, objectMember(event, "response") ?? {}),
    "response.failed": (event) => ending(seen, objectMember(event, "response") ?? {}),
    error: (event) => [{ kind: "error", error: readProviderError(event) }],
  };
  return {
    event(data) {
      if (data === "[DONE]") return [];
      const type = textIn(data, "type") ?? "";
      if (Object.hasOwn(take, type)) return take[type]?.(data) ?? [];
      return isJson(data["error"]) ? [{ kind: "error", error: readProviderError(data) }] : [];
    },
    rest: () => [],
  };
}

type Opened = Parameters<BlockSerializer["add"]>[1];

/** A call is opened by its item, so that this is never used. */
const NEVER_OPENED: Opened["open"] = () => ({ kind: "call", id: "", name: "" });

type Addition = Opened & { key: string; text: string };

function add(seen: Seen, { key, text, ...opened }: Addition): ReplyStep[] {
  if (text !== "") seen.written.add(key);
  seen.began = true;
  return seen.blocks.add(key, opened, text);
}

const thoughtKey = (place: unknown): string => `thinking ${place}`;
const callKey = (place: unknown): string => `call ${place}`;

const thought = (seen: Seen, place: unknown, text: string): ReplyStep[] =>
  add(seen, {
    key: thoughtKey(place),
    open: () => ({ kind: "thinking" }),
    sign: () => seen.sealed.get(place) ?? null,
    text,
  });

function itemAdded(seen: Seen, item: Json, place: unknown): ReplyStep[] {
  if (item["type"] === "function_call") return called(seen, item, { place, text: "" });
  return [];
}

type Called = { place: unknown; text: string };

function called(seen: Seen, item: Json, { place, text }: Called): ReplyStep[] {
  const [id, name] = [textIn(item, "call_id") ?? textIn(item, "id") ?? "", textIn(item, "name") ?? ""];
  const open = (): OpenBlock => {
    seen.calls += 1;
    return { kind: "call", id, name };
  };
  return add(seen, { key: callKey(place), open, text });
}

/** An item that is complete: what of it has not been streamed. */
function wholeItem(seen: Seen, item: Json, place: unknown): ReplyStep[] {
  switch (item["type"]) {
    case "reasoning":
      return wholeThought(seen, item, place);
    case "message":
      return objectsIn(item, "content").flatMap((part, index) => wholePart(seen, part, `${place} ${index}`));
    case "function_call": {
      const text = seen.written.has(callKey(place)) ? "" : (textIn(item, "arguments") ?? "");
      return called(seen, item, { place, text });
    }
    case "image_generation_call": {
      const [data, format] = [textIn(item, "result"), textIn(item, "output_format")];
      const open = () =>
        ({ kind: "image", mediaType: `image/${format ?? "png"}`, data: data ?? "" }) as const;
      return data ? add(seen, { key: `image ${place}`, open, text: "" }) : [];
    }
    case "web_search_call":
      return searched(seen, item, place);
    case "custom_tool_call":
      return called(seen, item, { place, text: JSON.stringify({ input: textIn(item, "input") ?? "" }) });
    default:
      return [];
  }
}

function wholeThought(seen: Seen, item: Json, place: unknown): ReplyStep[] {
  const sealed = textIn(item, "encrypted_content");
  if (sealed) seen.sealed.set(place, sealed);
  const said = [...objectsIn(item, "summary"), ...objectsIn(item, "content")];
  const text = said.map((part) => textIn(part, "text") ?? "").join("\n\n");
  const rest = seen.written.has(thoughtKey(place)) ? "" : text;
  return sealed || rest !== "" ? thought(seen, place, rest) : [];
}

function wholePart(seen: Seen, part: Json, place: string): ReplyStep[] {
  const kind = part["type"] === "refusal" ? "refusal" : "text";
  const key = `${kind} ${place}`;
  const text = textIn(part, kind);
  const said = text && !seen.written.has(key) ? add(seen, { key, open: () => ({ kind }), text }) : [];
  if (kind === "refusal" && said.length > 0) seen.refused += text;
  // The part is whole, so that its text is the open one unless a call is.
  for (const annotation of objectsIn(part, "annotations")) {
    const citation = urlCitation(annotation);
    if (citation) seen.blocks.cite(key, citation);
  }
  return said;
}

/** A search of the web, but not the opening of a page that it found. */
function searched(seen: Seen, item: Json, place: unknown): ReplyStep[] {
  const action = objectMember(item, "action");
  if (textIn(action, "type") !== "search") return [];
  const queries = action?.["queries"];
  const query = textIn(action, "query") ?? (Array.isArray(queries) ? wordOf(queries[0] ?? "") : "");
  const block = {
    kind: "search",
    id: textIn(item, "id") ?? "",
    query,
    sources: sourcesIn(action, "sources"),
  } as const;
  return add(seen, { key: `search ${place}`, open: () => block, text: "" });
}

function ending(seen: Seen, response: Json): ReplyStep[] {
  if (response["status"] === "failed") return [{ kind: "error", error: readProviderError(response) }];
  const cut = textIn(objectMember(response, "incomplete_details"), "reason");
  // Some servers send all of it at the end.
  const rest = objectsIn(response, "output");
  const steps = seen.began ? [] : rest.flatMap((item, place) => wholeItem(seen, item, place));
  const { refused, calls } = seen;
  const usual = refused !== "" ? "refusal" : calls > 0 ? "tool_use" : "end_turn";
  const reason = cut === null ? usual : cut === "content_filter" ? "refusal" : "max_tokens";
  return [
    ...steps,
    ...seen.blocks.finish(),
    { kind: "stop", reason, sequence: null, explanation: refused === "" ? null : refused },
    { kind: "end" },
  ];
}
