import { readProviderError } from "../error-shapes.ts";
import type { Json, StepReader } from "../exact-json.ts";
import { isJson, objectIn, objectMember, objectsIn, textIn } from "../exact-json.ts";
import type { OpenBlock, ReplyStep, StopReason } from "../reply.ts";
import { messagesCitation, sourcesIn } from "../web-search.ts";

/** The steps of a complete message; empty if the body is not a message. */
export function messageSteps(message: Json): ReplyStep[] {
  if (!Array.isArray(message["content"])) return [];
  const searches: Searches = new Map();
  return [
    startOf(message),
    ...objectsIn(message, "content").flatMap((block) => {
      const open = openOf(block, searches);
      return open
        ? [{ kind: "open", block: open } as const, ...wholeOf(block), { kind: "close" } as const]
        : [];
    }),
    stopOf(message),
    { kind: "end" },
  ];
}

function citeSteps(given: Json): ReplyStep[] {
  const citation = messagesCitation(given);
  return citation ? [{ kind: "cite", citation }] : [];
}

const startOf = (message: Json | null): ReplyStep => ({
  kind: "start",
  id: textIn(message, "id") ?? "",
  model: textIn(message, "model") ?? "",
});

const REASONS: readonly StopReason[] = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"];

function stopOf(object: Json | null): ReplyStep {
  const said = textIn(object, "stop_reason");
  const reason = REASONS.find((known) => known === said);
  return {
    kind: "stop",
    reason: reason ?? (said === "model_context_window_exceeded" ? "max_tokens" : "end_turn"),
    sequence: textIn(object, "stop_sequence"),
    explanation: textIn(objectMember(object, "stop_details"), "explanation"),
  };
}

/** By their ids, the inputs of searches whose results are still to come, as JSON. */
type Searches = Map<string, string>;

/** A search is one block once its results have come. Blocks of other tools that the vendor runs are skipped. */
function openOf(block: Json, searches: Searches): OpenBlock | null {
  switch (block["type"]) {
    case "text":
      return { kind: "text" };
    case "thinking":
      return { kind: "thinking" };
    case "redacted_thinking":
      return { kind: "redacted", data: textIn(block, "data") ?? "" };
    case "tool_use":
      return { kind: "call", id: textIn(block, "id") ?? "", name: textIn(block, "name") ?? "" };
    case "server_tool_use":
      searches.set(textIn(block, "id") ?? "", JSON.stringify(block["input"] ?? {}));
      return null;
    case "web_search_tool_result": {
      const id = textIn(block, "tool_use_id") ?? "";
      const query = textIn(objectIn(searches.get(id) ?? ""), "query") ?? "";
      return { kind: "search", id, query, sources: sourcesIn(block, "content") };
    }
    default:
      return null;
  }
}

/** The initial content of a block. */
function wholeOf(block: Json): ReplyStep[] {
  const input = block["input"];
  const text =
    block["type"] === "tool_use" && isJson(input) && Object.keys(input).length > 0
      ? JSON.stringify(input)
      : (textIn(block, "text") ?? textIn(block, "thinking"));
  const signature = textIn(block, "signature");
  return [
    ...(text ? [{ kind: "more", text } as const] : []),
    ...(signature ? [{ kind: "sign", signature } as const] : []),
    ...objectsIn(block, "citations").flatMap(citeSteps),
  ];
}

export function messageStream(): StepReader {
  let open = false;
  const searches: Searches = new Map();
  let search: string | null = null;
  const take: Record<string, (event: Json) => ReplyStep[]> = {
    message_start: (event) => [startOf(objectMember(event, "message"))],
    content_block_start(event) {
      const block = objectMember(event, "content_block");
      const opened = block && openOf(block, searches);
      search = block?.["type"] === "server_tool_use" ? textIn(block, "id") : null;
      // Its input follows in pieces.
      if (search !== null) searches.set(search, "");
      open = opened !== null;
      return block && opened ? [{ kind: "open", block: opened }, ...wholeOf(block)] : [];
    },
    content_block_delta(event) {
      const delta = objectMember(event, "delta");
      if (open) return deltaSteps(delta);
      if (search !== null)
        searches.set(search, (searches.get(search) ?? "") + (textIn(delta, "partial_json") ?? ""));
      return [];
    },
    content_block_stop() {
      const closed = open;
      open = false;
      return closed ? [{ kind: "close" }] : [];
    },
    message_delta: (event) => [stopOf(objectMember(event, "delta"))],
    message_stop: () => [{ kind: "end" }],
    error: (event) => [{ kind: "error", error: readProviderError(event) }],
  };
  return {
    event(data) {
      if (data === "[DONE]") return [];
      const type = textIn(data, "type") ?? "";
      return Object.hasOwn(take, type) ? (take[type]?.(data) ?? []) : [];
    },
    rest: () => [],
  };
}

function deltaSteps(delta: Json | null): ReplyStep[] {
  const citation = objectMember(delta, "citation");
  if (citation) return citeSteps(citation);
  const signature = textIn(delta, "signature");
  if (signature) return [{ kind: "sign", signature }];
  const text = textIn(delta, "text") ?? textIn(delta, "thinking") ?? textIn(delta, "partial_json");
  return text ? [{ kind: "more", text }] : [];
}
