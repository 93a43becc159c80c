import { words } from "#shared/words.ts";
import { type Json, objectMember } from "./exact-json.ts";
import type { Losses } from "./place.ts";

/** Members of requests that an answer can do without, by their place in each provider's format, and how vendors name them. */
const WISHES: Readonly<Record<string, RegExp>> = {
  reasoning_effort: /reasoning.?effort|support thinking/i,
  "reasoning.summary": /reasoning.{0,3}summar/i,
  "reasoning.effort": /reasoning.{0,3}effort/i,
  thinking: /thinking/i,
  "output_config.effort": /\beffort\b/i,
  "generationConfig.thinkingConfig": /thinking/i,
  temperature: /temperature/i,
  top_p: /top.?p\b/i,
  top_k: /top.?k\b/i,
  seed: /\bseed\b/i,
  "generationConfig.temperature": /temperature/i,
  "generationConfig.topP": /top.?p\b/i,
  parallel_tool_calls: /parallel.?tool.?calls/i,
  verbosity: /verbosity/i,
  "text.verbosity": /verbosity/i,
  service_tier: /service.?tier/i,
  metadata: /metadata/i,
  prompt_cache_key: /prompt.?cache.?key/i,
  prompt_cache_options: /prompt.?cache.?options/i,
  prompt_cache_retention: /prompt.?cache.?retention/i,
};
const LIMITS = words("max_tokens max_completion_tokens max_output_tokens generationConfig.maxOutputTokens");

/** The model does not take the member at all, or not this value of it. */
const NOT_TAKEN =
  /(?:not (?:supported|enabled|available|allowed)|deprecated)\b.*\bmodel|does(?: not|n't) support|unsupported (?:param|value)|unrecogni[sz]ed|unknown (?:param|arg|name|field)|extra.?forbidden|not permitted|must be verified/i;
/** The vendors' sentences that name the longest answer: of OpenAI and Azure, Anthropic, Bedrock, Google, DeepSeek and Alibaba, Mistral, Groq and OpenAI's responses. */
const TOO_LONG = [
  /supports at most (\d+) completion tokens/,
  /max_tokens: \d+ > (\d+), which is the maximum/,
  /maximum tokens you requested exceeds the model limit of (\d+)/,
  /maxOutputTokens value of \d+ but the supported range is from \d+ \(inclusive\) to (\d+)( \(exclusive\))?/,
  /range of max_tokens (?:is|should be) \[\d+, ?(\d+)\]/i,
  /max(?:_completion|_output)?_tokens\b.{0,80}?(?:less than or equal to|<=) `?(\d+)/,
];
/** Of the prompt and the answer together, which depends on the prompt. Groq names the `context_window` beside the answer's own limit. */
const OF_BOTH = /\bcontext\b|\+ .?max_/i;

/** The longest answer that a refusal names, in tokens. */
function longestAnswer(message: string): number | null {
  if (OF_BOTH.test(message)) return null;
  const plain = message.replace(/(\d),(?=\d{3}\b)/g, "$1");
  const [, limit, exclusive] = TOO_LONG.map((said) => said.exec(plain)).find(Boolean) ?? [];
  return limit === undefined ? null : Number(limit) - (exclusive ? 1 : 0);
}

const valueAt = (body: Json, path: string): unknown => {
  const [first = "", second] = path.split(".");
  return second === undefined ? body[first] : objectMember(body, first)?.[second];
};

/**
 * The member that the sentence of a vendor's refusal names, in the words of `withoutWishes`: `temperature`; `reasoning_effort=max`, if only that value is
 * refused; `max_tokens>8192`, if the model's answers are shorter. Null if the answer cannot do without what is refused.
 */
export function refusedWish(body: Json, message: string): string | null {
  for (const path of LIMITS) {
    const asked = valueAt(body, path);
    const most = typeof asked === "number" ? longestAnswer(message) : null;
    if (most !== null && most > 0 && most < Number(asked)) return `${path}>${most}`;
  }
  if (!NOT_TAKEN.test(message)) return null;
  const path = Object.keys(WISHES).find(
    (one) => valueAt(body, one) !== undefined && WISHES[one]?.test(message),
  );
  const value = path === undefined ? null : valueAt(body, path);
  if (path === undefined) return null;
  return typeof value === "string" && /value|'none'/i.test(message) ? `${path}=${value}` : path;
}

/** A request without what its model refuses. What is left out is counted. */
export function withoutWishes(body: Json, refused: readonly string[], losses: Losses): Json {
  let rest = body;
  for (const wish of refused) {
    const [, path = "", sign, limit = ""] = /^([\w.]+)(?:([=>])(.*))?$/.exec(wish) ?? [];
    const value = valueAt(rest, path);
    if (value === undefined || (sign === "=" && value !== limit)) continue;
    if (sign === ">" && Number(value) <= Number(limit)) continue;
    losses.drop(path);
    rest = withMember(rest, path, sign === ">" ? Number(limit) : undefined);
  }
  return rest;
}

/** An object that has nothing left is left out as well. */
function withMember(body: Json, path: string, value: unknown): Json {
  const [first = "", second] = path.split(".");
  if (second !== undefined) {
    const inner = withMember(objectMember(body, first) ?? {}, second, value);
    return withMember(body, first, Object.keys(inner).length > 0 ? inner : undefined);
  }
  const { [first]: _, ...rest } = body;
  return value === undefined ? rest : { ...rest, [first]: value };
}
