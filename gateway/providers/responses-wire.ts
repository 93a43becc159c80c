import type { ProviderObject } from "./provider-json.ts";
import { errorNameOf, listOf, nameOf, objectOf, parseObject } from "./provider-json.ts";
import { responsesUsage } from "./responses-usage.ts";
import { type StreamState, typedStreams } from "./typed-stream.ts";
import { openaiErrors, readingOf, type Wire } from "./wire.ts";

const LAST = ["response.completed", "response.incomplete", "response.failed"] as const;
const isLast = (type: string): boolean => LAST.some((last) => last === type);

/** OpenAI's responses. A stream reports its usage in its last event; no `[DONE]` need follow. */
export const RESPONSES_WIRE: Wire = {
  ...openaiErrors,
  readAnswer(bytes) {
    const { billsMore, ...told } = answerOf(parseObject(bytes));
    return readingOf({ ...told, final: !billsMore });
  },
  openStream: typedStreams({ markers: LAST.map((type) => `"${type}"`), update: take }),
  mayBeUsageOnly: () => false,
};

function take(state: StreamState, type: string, event: ProviderObject): void {
  state.contentSeen ||= isContent(type, event);
  const response = objectOf(event["response"]);
  const { usage, model, tier, billsMore, failure } = answerOf(response);
  state.model = model ?? state.model;
  if (!isLast(type)) return;
  state.terminalSeen = true;
  state.usage = usage ?? state.usage;
  // An unfinished response reports the requested tier, a finished one the tier that served it.
  state.tier = tier;
  state.billsMore = billsMore;
  if (failure !== undefined) state.failure = failure;
}

function answerOf(response: ProviderObject | null) {
  const usage = objectOf(response?.["usage"]);
  return {
    usage: usage && { ...responsesUsage(usage), webSearches: searchesIn(response?.["output"]) },
    model: nameOf(response?.["model"]),
    tier: nameOf(response?.["service_tier"]),
    failure: response?.["status"] === "failed" ? errorNameOf(objectOf(response["error"]) ?? {}) : undefined,
    billsMore: listOf(response?.["output"]).some((item) => BILLED_BESIDES.has(objectOf(item)?.["type"])),
  };
}

/** Built-in tools billed separately by figures that no answer reports: the counted usage is a lower bound. */
const BILLED_BESIDES = new Set<unknown>([
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
]);

/** Other actions of a search call, which are not billed as searches. */
const BROWSING = ["open_page", "find", "find_in_page"];

/** Searches of the web that the provider made for the answer; billed separately, and visible only in its output. */
function searchesIn(output: unknown): number | null {
  if (!Array.isArray(output)) return null;
  const searches = output.map(objectOf).filter((item) => item?.["type"] === "web_search_call");
  return searches.filter((item) => !BROWSING.some((kind) => kind === objectOf(item?.["action"])?.["type"]))
    .length;
}

/** A piece of text, reasoning, audio or a tool's arguments; or a tool call, which counts as output at once. */
function isContent(type: string, event: ProviderObject): boolean {
  if (type.endsWith(".delta")) return typeof event["delta"] === "string" && event["delta"].length > 0;
  const item = type === "response.output_item.added" ? objectOf(event["item"]) : null;
  return typeof item?.["type"] === "string" && item["type"].endsWith("_call");
}
