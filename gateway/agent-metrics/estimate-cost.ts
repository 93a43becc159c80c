import type { PointKind } from "#drizzle/schema/agent.ts";
import { difference, formatDecimal, parseDecimal } from "#shared/decimal.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { Provider } from "../directory.ts";
import { priceCall } from "../pricing/price.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import type { PriceEntry } from "../pricing/rate.ts";
import { type Priced, UNPRICED } from "../reading.ts";
import { metricFacts } from "./metrics.ts";
import type { Point } from "./validate-points.ts";

type TokenCount = "uncachedInputTokens" | "cacheReadTokens" | "cacheWrite5mTokens" | "outputTokens";

/** How each kind of tokens is charged. Cached tokens that an input total includes cost only the difference. */
const CHARGED: Readonly<Partial<Record<PointKind, { as: TokenCount; insteadOf?: TokenCount }>>> = {
  input: { as: "uncachedInputTokens" },
  cache_read: { as: "cacheReadTokens" },
  cache_write: { as: "cacheWrite5mTokens" },
  output: { as: "outputTokens" },
  cached_input: { as: "cacheReadTokens", insteadOf: "uncachedInputTokens" },
  written_input: { as: "cacheWrite5mTokens", insteadOf: "uncachedInputTokens" },
};

export type Estimate = Pick<Priced, "costUsd" | "price"> & { unpriced: boolean };

const UNCHARGED: Estimate = { costUsd: null, price: null, unpriced: false };

/** Cost of a point's tokens at the prices of its time: an estimate, because a point aggregates calls not seen here. */
export function estimateCost(book: Pick<PriceBook, "priceOf">, point: Point): Estimate {
  const charged = CHARGED[point.kind];
  if (!charged || point.tokens == null) return UNCHARGED;
  const entry = entryOf(book, point);
  const full = entry ? priced(entry, charged.as, point.tokens) : UNPRICED;
  if (!entry || full.tokenCostUsd === null) return { ...UNCHARGED, unpriced: true };
  if (!charged.insteadOf) return { costUsd: full.tokenCostUsd, price: full.price, unpriced: false };
  const before = priced(entry, charged.insteadOf, point.tokens);
  const cost = difference(parseDecimal(full.tokenCostUsd), parseDecimal(before.tokenCostUsd ?? "0"));
  const refunded = (before.price?.rows ?? []).map((row) => ({ ...row, count: -row.count }));
  const price = { entry: entry.entry, rows: [...(full.price?.rows ?? []), ...refunded] };
  return { costUsd: formatDecimal(cost), price, unpriced: false };
}

function priced(entry: PriceEntry, count: TokenCount, tokens: number): Priced {
  const usage: Usage = { ...NO_USAGE, uncachedInputTokens: 0, outputTokens: 0, [count]: tokens };
  return priceCall(entry, usage);
}

function entryOf(book: Pick<PriceBook, "priceOf">, point: Point): PriceEntry | null {
  const kinds = providerKindsOf(point.provider ?? point.system, metricFacts(point.metric)?.vendors);
  const atMs = Date.parse(point.endedAt);
  if (!point.model) return null;
  const names = [point.responseModel, point.model].flatMap((model) => (model ? [bare(model)] : []));
  for (const kind of kinds) {
    const entry = book.priceOf({ kind, name: nameOf(kind, point) }, { own: names, list: names }, atMs);
    if (entry) return withoutTiers(entry);
  }
  return null;
}

const nameOf = (kind: Provider["kind"], { provider, system }: Point): string =>
  kind === "openai-compatible" ? (provider ?? system ?? kind) : kind;

/** Claude Code appends the context window size to the name: `claude-sonnet-4-5[1m]`. */
const bare = (model: string): string => model.replace(/\[\w{1,8}\]$/, "");

/** Tiers depend on the size of a single call, unknown in a sum over calls: the lowest tier applies. */
const withoutTiers = ({ entry, rates }: PriceEntry): PriceEntry => ({
  entry,
  rates: Object.fromEntries(Object.entries(rates).map(([unit, rate]) => [unit, { ...rate, tiers: [] }])),
});

type Kind = Provider["kind"];

/** Provider kinds by their names in old and new OpenTelemetry conventions, in lower case. */
const KINDS: Readonly<Record<string, Kind>> = {
  openai: "openai",
  anthropic: "anthropic",
  "azure.ai.openai": "azure",
  "azure.ai.inference": "azure",
  "az.ai.openai": "azure",
  "az.ai.inference": "azure",
  azure: "azure",
  "aws.bedrock": "bedrock",
  aws_bedrock: "bedrock",
  bedrock: "bedrock",
  "gcp.gemini": "gemini",
  "gcp.gen_ai": "gemini",
  "gcp.vertex_ai": "gemini",
  vertex_ai: "gemini",
  google: "gemini",
  gemini: "gemini",
  mistral_ai: "mistral",
  mistral: "mistral",
  groq: "groq",
  deepseek: "deepseek",
  x_ai: "xai",
  xai: "xai",
  cohere: "cohere",
  perplexity: "perplexity",
  moonshot_ai: "moonshot",
  openrouter: "openrouter",
  together: "together",
  fireworks: "fireworks",
  ollama: "ollama",
  echo: "echo",
};

/** Vendors tried in turn if none is named: their model names do not overlap. */
const VENDORS: readonly Kind[] = [
  ...(["openai", "anthropic", "gemini", "mistral", "deepseek"] as const),
  ...(["xai", "moonshot", "zai", "minimax", "cohere"] as const),
];

/** Provider kinds whose prices may apply: the one named, else those of the emitter, else all vendors. */
function providerKindsOf(named: string | null | undefined, vendors: readonly Kind[] = VENDORS) {
  if (named) {
    const name = named.toLowerCase();
    // For an unknown provider only an administrator can set prices.
    return [(Object.hasOwn(KINDS, name) && KINDS[name]) || "openai-compatible"];
  }
  return vendors;
}
