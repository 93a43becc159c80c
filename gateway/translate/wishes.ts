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
const LIMITS = [
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "generationConfig.maxOutputTokens",
];

/** The model does not take the member at all, or not this value of it. */
const NOT_TAKEN =
  /(?:not (?:supported|enabled|available|allowed)|deprecated)\b.*\bmodel|does(?: not|n't) support|unsupported (?:param|value)|unrecogni[sz]ed|unknown (?:param|arg|name|field)|extra.?forbidden|not permitted|must be verified/i;
const TOO_LARGE = /max.{0,12}tokens/i;
/** Of the prompt and the answer together, which depends on the prompt. */
const OF_BOTH = /context length/i;

const valueAt = (body: Json, path: string): unknown => {
  const [first = "", second] = path.split(".");
  return second === undefined ? body[first] : objectMember(body, first)?.[second];
};

/**
 * The member that a vendor's refusal names, in the words of `withoutWishes`: `temperature`; `reasoning_effort=max`, if only that value is
 * refused; `max_tokens>8192`, if the model's answers are shorter. Null if the answer cannot do without what is refused.
 */
export function refusedWish(body: Json, text: string): string | null {
  for (const path of LIMITS) {
    const asked = valueAt(body, path);
    if (typeof asked !== "number" || !TOO_LARGE.test(text) || OF_BOTH.test(text)) continue;
    const most = Math.max(...(text.match(/\d+/g) ?? []).map(Number).filter((number) => number < asked));
    if (most > 255) return `${path}>${/exclusive/.test(text) ? most - 1 : most}`;
  }
  if (!NOT_TAKEN.test(text)) return null;
  const path = Object.keys(WISHES).find((one) => valueAt(body, one) !== undefined && WISHES[one]?.test(text));
  const value = path === undefined ? null : valueAt(body, path);
  if (path === undefined) return null;
  return typeof value === "string" && /value|'none'/i.test(text) ? `${path}=${value}` : path;
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
