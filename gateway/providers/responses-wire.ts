import { words } from "#shared/words.ts";
import { PREVIEW_SEARCH } from "../reading.ts";
import type { ProviderFacts } from "./provider-facts.ts";
import { errorNameOf, listOf, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { ranHostedTools, reportedCostOf } from "./reported-cost.ts";
import { responsesUsage } from "./responses-usage.ts";
import { type StreamState, typedStreams } from "./typed-stream.ts";
import { hasUnknown, RESPONSES_MEMBERS } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

const LAST = ["response.completed", "response.incomplete", "response.failed"] as const;
const isLast = (type: string): boolean => LAST.some((last) => last === type);

/** OpenAI's responses. A stream reports its usage in its last event; no `[DONE]` need follow. */
export const RESPONSES_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer(bytes, facts) {
    const response = parseObject(bytes);
    const reading = readingOf({ ...answerOf(response, facts), final: true });
    const isBegun = response?.["status"] === "queued" || response?.["status"] === "in_progress";
    return isBegun && reading.keptId ? { ...reading, pending: true } : reading;
  },
  openStream: typedStreams({ markers: LAST.map((type) => `"${type}"`), update: take }),
};

function take(state: StreamState, type: string, event: ProviderObject): void {
  state.contentSeen ||= isContent(type, event);
  const response = objectOf(event["response"]);
  const { usage, model, tier, keptId, keptIds, failure, ...rest } = answerOf(response, state.facts);
  state.model = model ?? state.model;
  state.keptId = keptId ?? state.keptId ?? null;
  state.inBackground ||= response?.["background"] === true;
  const made = response ? keptIds : keptIn([event["item"]], state.keptId !== null);
  if (made.length > 0) state.keptIds = new Set([...(state.keptIds ?? []), ...made]);
  if (!isLast(type)) return;
  state.terminalSeen = true;
  state.usage = usage ?? state.usage;
  // An unfinished response reports the requested tier, a finished one the tier that served it.
  state.tier = tier;
  Object.assign(state, rest);
  if (failure !== undefined) state.failure = failure;
}

function answerOf(response: ProviderObject | null, facts: ProviderFacts) {
  const usage = objectOf(response?.["usage"]);
  const output = response?.["output"];
  return {
    usage: usage && {
      ...responsesUsage(usage),
      webSearches: searchesIn(output),
      fileSearches: itemsOf(output, "file_search_call").length || null,
    },
    variant: listOf(response?.["tools"]).map(objectOf).some(isPreviewSearch) ? PREVIEW_SEARCH : null,
    model: nameOf(response?.["model"]),
    tier: nameOf(response?.["service_tier"]),
    failure: response?.["status"] === "failed" ? errorNameOf(objectOf(response["error"]) ?? {}) : undefined,
    keptId: response?.["store"] === false ? null : nameOf(response?.["id"]),
    keptIds: keptIn(output, response?.["store"] !== false),
    cost: reportedCostOf(usage, facts),
    billsMore:
      ranHostedTools(usage) ||
      hasUnknown(usage, RESPONSES_MEMBERS) ||
      listOf(output).map(objectOf).some(isBilledBesides),
  };
}

/** The older search tool, which costs more with some models. Its name may have a date behind it. */
const isPreviewSearch = (tool: ProviderObject | null): boolean =>
  String(tool?.["type"]).startsWith(PREVIEW_SEARCH);

const itemsOf = (output: unknown, type: string): (ProviderObject | null)[] =>
  listOf(output)
    .map(objectOf)
    .filter((item) => item?.["type"] === type);

/** Ids of containers in items, and those of the items themselves if they are stored. */
const keptIn = (output: unknown, stored: boolean): string[] =>
  listOf(output)
    .map(objectOf)
    .flatMap((item) => [
      stored ? item?.["id"] : null,
      item?.["container_id"],
      objectOf(item?.["environment"])?.["container_id"],
    ])
    .map(nameOf)
    .filter((id) => id !== null);

/** Output items that cost only tokens or are counted: texts, and tools that the client or its own server runs. */
const NOT_BILLED_BESIDES = new Set<unknown>(
  words(`
  message reasoning compaction function_call function_call_output custom_tool_call custom_tool_call_output
  computer_call computer_call_output local_shell_call local_shell_call_output shell_call_output
  apply_patch_call apply_patch_call_output mcp_call mcp_list_tools mcp_approval_request
  mcp_approval_response tool_search_call tool_search_output additional_tools web_search_call
  file_search_call
`),
);

/** Whether an item is of a provider's tool billed by figures that no answer has. Unknown types count as one. */
function isBilledBesides(item: ProviderObject | null): boolean {
  const type = item?.["type"];
  if (typeof type !== "string" || NOT_BILLED_BESIDES.has(type)) return false;
  return !(type === "shell_call" && objectOf(item?.["environment"])?.["type"] === "local");
}

/** Other actions of a search call, which are not billed as searches. */
const BROWSING = ["open_page", "find", "find_in_page"];

/** Searches of the web that the provider made for the answer; billed separately, and visible only in its output. */
function searchesIn(output: unknown): number | null {
  if (!Array.isArray(output)) return null;
  return itemsOf(output, "web_search_call").filter(
    (item) => !BROWSING.some((kind) => kind === objectOf(item?.["action"])?.["type"]),
  ).length;
}

/** A piece of text, reasoning, audio or a tool's arguments; or a tool call, which counts as output at once. */
function isContent(type: string, event: ProviderObject): boolean {
  if (type.endsWith(".delta")) return typeof event["delta"] === "string" && event["delta"].length > 0;
  const item = type === "response.output_item.added" ? objectOf(event["item"]) : null;
  return typeof item?.["type"] === "string" && item["type"].endsWith("_call");
}
