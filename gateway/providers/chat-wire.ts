import { words } from "#shared/words.ts";
import type { Reading, StreamReader } from "../reading.ts";
import { includesBytes, indexOfBytes, needle } from "./byte-search.ts";
import { chatUsage, usageIn } from "./chat-usage.ts";
import { trafficIn } from "./gemini-usage.ts";
import type { ProviderFacts } from "./provider-facts.ts";
import { failureIn, listOf, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { ranHostedTools, reportedCostOf } from "./reported-cost.ts";
import { CHAT_MEMBERS, hasUnknown } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

/** OpenAI's chat completions and their variants, and its older completions, whose choices have a `text`. */
export const CHAT_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer(bytes, facts) {
    const answer = parseObject(bytes) ?? {};
    const failure = failureIn(answer);
    const searches = new Set(searchCallsIn(answer, facts));
    return chatReading({ answer, usage: usageIn(answer), final: true, failure, searches }, facts);
  },
  openStream: chatStream,
  mayBeUsageOnly,
};

function chatStream(facts: ProviderFacts): StreamReader {
  const progress = { contentSeen: false, terminalSeen: false, allSeen: false };
  let usage: ProviderObject | null = null;
  let failure: string | undefined;
  let model: string | null = null;
  let tier: string | null = null;
  const searches = new Set<string>();
  const tool = facts.searchTool === undefined ? [] : [needle(`"${facts.searchTool}"`)];

  const take = (chunk: ProviderObject) => {
    model ??= nameOf(chunk["model"]);
    tier = nameOf(chunk["service_tier"]) ?? tier;
    if (hasContent(chunk)) progress.contentSeen = true;
    failure = failureIn(chunk) ?? failure;
    for (const call of searchCallsIn(chunk, facts)) searches.add(call);
    const found = usageIn(chunk);
    if (!found) return;
    // Some report running figures on every chunk: the last one counts, and it is final once all choices are.
    usage = found;
    progress.allSeen ||= listOf(chunk["choices"]).every(isFinished);
  };

  return {
    event(data) {
      if (isDone(data)) {
        progress.terminalSeen = true;
        return false;
      }
      const decides = hasUsage(data) || [ERROR, ...tool].some((text) => includesBytes(data, text));
      if (progress.contentSeen && !decides) return false;
      const chunk = parseObject(data);
      if (!chunk) return false;
      take(chunk);
      return isUsageOnly(chunk) && mayBeUsageOnly(data);
    },
    progress,
    reading: (complete) =>
      chatReading(
        {
          answer: { model, service_tier: tier },
          usage,
          final: complete || progress.allSeen,
          failure,
          searches,
        },
        facts,
      ),
  };
}

type Seen = {
  answer: ProviderObject;
  usage: ProviderObject | null;
  final: boolean;
  failure: string | undefined;
  /** Calls of the vendor's own search tool. */
  searches: ReadonlySet<string>;
};

const chatReading = ({ answer, usage, final, failure, searches }: Seen, facts: ProviderFacts): Reading =>
  readingOf({
    usage: usage && { ...chatUsage(usage, facts), webSearches: searches.size || null },
    model: nameOf(answer["model"]),
    tier: nameOf(answer["service_tier"]) ?? (usage?.["extra_properties"] ? trafficIn(usage) : null),
    final,
    failure,
    cost: reportedCostOf(usage, facts),
    billsMore: ranHostedTools(usage) || hasUnknown(usage, CHAT_MEMBERS),
  });

/** Places of the calls of the vendor's own search tool in an answer or chunk: those that bear its name. */
const searchCallsIn = (answer: ProviderObject, { searchTool }: ProviderFacts): string[] =>
  searchTool === undefined
    ? []
    : listOf(answer["choices"]).flatMap((choice, place) => {
        const { message, delta, index = place } = objectOf(choice) ?? {};
        const calls = listOf(objectOf(message ?? delta)?.["tool_calls"]).map(objectOf);
        return calls.flatMap((call, at) =>
          objectOf(call?.["function"])?.["name"] === searchTool ? `${index} ${call?.["index"] ?? at}` : [],
        );
      });

const decoder = new TextDecoder();
const isDone = (data: Uint8Array): boolean =>
  data.byteLength <= 16 && decoder.decode(data).trim() === "[DONE]";

const USAGE = needle('"usage"');
const ERROR = needle('"error"');
const NULL_MEMBER = /^"usage"\s*:\s*null\b/;

/** A search instead of a parse: inside a string quotes are escaped. All chunks but the last have `"usage":null`. */
function hasUsage(data: Uint8Array): boolean {
  for (let at = indexOfBytes(data, USAGE); at !== -1; at = indexOfBytes(data, USAGE, at + 1)) {
    if (!NULL_MEMBER.test(decoder.decode(data.subarray(at, at + 24)))) return true;
  }
  return false;
}

/** Members of a delta that are content, in OpenAI's and other vendors' naming. A role alone is not content. */
const CONTENT_MEMBERS = words(`
  content refusal reasoning_content reasoning reasoning_details tool_calls function_call audio images
`);

const hasContent = (chunk: ProviderObject): boolean =>
  listOf(chunk["choices"]).some((choice) => {
    const { delta: part, text } = objectOf(choice) ?? {};
    const delta = objectOf(part);
    return isFilled(text) || (delta !== null && CONTENT_MEMBERS.some((member) => isFilled(delta[member])));
  });

const isFilled = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : objectOf(value) !== null;

const isFinished = (choice: unknown): boolean => typeof objectOf(choice)?.["finish_reason"] === "string";

/** Members that make a chunk worth passing on although it has no choices: Azure's filter results, moderation, sources. */
const INFORMATIVE = words(
  "prompt_filter_results prompt_annotations moderation citations search_results error",
);

const isUsageOnly = (chunk: ProviderObject): boolean =>
  Array.isArray(chunk["choices"]) &&
  chunk["choices"].length === 0 &&
  objectOf(chunk["usage"]) !== null &&
  INFORMATIVE.every((member) => chunk[member] === undefined || chunk[member] === null);

/** A chunk with a delta is not a usage chunk, and a usage chunk is a JSON object. */
function mayBeUsageOnly(data: Uint8Array): boolean {
  const first = data.find((byte) => byte !== 0x20 && byte !== 0x09);
  if (first !== undefined && first !== 0x7b) return false;
  return !includesBytes(data, DELTA) && !includesBytes(data, CHOICE);
}

const DELTA = needle('"delta":');
const CHOICE = needle('"choices":[{');
