import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Call, Choice } from "../call.ts";
import { memberValue } from "../http/scan.ts";
import type { LimitDemand } from "../limits/decide.ts";
import { type Pico, picoRoundedUp } from "../limits/money.ts";
import { usageBound } from "../limits/usage-bound.ts";
import { isPricedApart } from "../pricing/price-answer.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { priceBound } from "../pricing/price-bound.ts";
import type { CallUsage } from "../stores/limits/limiter.ts";
import { surfaceFacts } from "../surface-facts.ts";

/** Reserved for a call of unknown price: the smallest amount, so that it needs a budget that is not used up. */
const UNKNOWN: Pico = 1n;

/** More than any budget: a key with a budget may not choose options without a known price. */
const UNBOUNDED: Pico = 10n ** 30n;

/** What a call may use at most, whichever of its targets answers (decision: Unknown costs under a budget). */
export function limitDemandOf(call: Call, choice: Choice, prices: PriceBook): LimitDemand {
  const { body, surface } = call;
  const members = new Map<string, unknown>();
  const member = (name: string): unknown => {
    if (!members.has(name)) members.set(name, memberValue(body, name));
    return members.get(name);
  };
  const size = { surface, bytes: body.bytes.length, uploaded: call.upload !== undefined, member };
  const free = surfaceFacts(surface).free || surfaceFacts(surface).unrecorded;
  const costs = !free && choice.channel !== "subscription";
  const ask: LimitDemand = { tokens: 0, usd: 0n, minimumUsd: 0n };
  const picoOf = (usd: ReturnType<typeof priceBound>): Pico => {
    if (usd === null) return UNKNOWN;
    const apart = chosenApart(member);
    if (apart === null) return picoRoundedUp(usd);
    ask.unpricedOption = apart;
    return UNBOUNDED;
  };
  for (const { provider, model } of choice.targets) {
    const bound = usageBound(size, model === null ? null : prices.limits(provider.kind, model).contextTokens);
    ask.tokens = Math.max(ask.tokens, bound.inputTokens + bound.outputTokens);
    if (!costs) continue;
    const price = model === null ? null : prices.priceOf(provider, model, call.admittedAt.getTime());
    const least = bound.outputBounded ? bound : { ...bound, outputTokens: 0 };
    ask.usd = larger(ask.usd, picoOf(priceBound(price, bound)));
    ask.minimumUsd = larger(ask.minimumUsd, picoOf(priceBound(price, least)));
  }
  return ask;
}

/** What the client chooses that is charged by another list than ours (OpenAI's, Anthropic's members), or null. */
function chosenApart(member: (name: string) => unknown): string | null {
  const name = ["service_tier", "speed"].find((it) => isPricedApart(member(it)));
  return name === undefined ? null : `${name}: ${member(name)}`;
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** A call's usage, from its record. A failed call used no tokens. */
export function callUsageOf({ state, costUsd, inputTokens, outputTokens }: RequestRow): CallUsage {
  const known = inputTokens != null || outputTokens != null;
  const failed = state === "upstream_error" || state === "denied";
  return {
    costUsd: costUsd ?? null,
    tokens: known || failed ? (inputTokens ?? 0) + (outputTokens ?? 0) : null,
  };
}
