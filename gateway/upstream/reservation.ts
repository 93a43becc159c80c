import type { RequestRow } from "#drizzle/schema/records.ts";
import { type Exact, plus, ZERO } from "#shared/decimal.ts";
import type { Call, Choice, Target } from "../call.ts";
import { ERRORS, GatewayError } from "../errors.ts";
import type { GuardrailVerdict } from "../guardrail/evaluate.ts";
import { memberValue } from "../http/scan.ts";
import type { LimitDemand } from "../limits/decide.ts";
import { refusesUnpriced } from "../limits/key-budgets.ts";
import { type Pico, picoRoundedUp } from "../limits/money.ts";
import { type UsageBound, usageBound } from "../limits/usage-bound.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { priceBound } from "../pricing/price-bound.ts";
import { isPricedFor } from "../pricing/priced-for.ts";
import type { PriceEntry } from "../pricing/rate.ts";
import { askedTier, isPricedApart, STANDARD } from "../pricing/tier.ts";
import type { CallUsage, Grant } from "../stores/limits/grants.ts";
import { type Limiter, UNLIMITED } from "../stores/limits/limiter.ts";
import { SURFACES, surfaceFacts } from "../surface-facts.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { fallbacksBound } from "./fallbacks-bound.ts";
import { denialOf } from "./own-answer.ts";

/** Reserved for a call of unknown price: the smallest amount, so that it needs a budget with something left. */
const UNKNOWN: Pico = 1n;

/** More than any budget: a key with a budget may not use options without a known price. */
const UNBOUNDED: Pico = 10n ** 30n;

/** The choice without unpriced fallbacks, if a budget refuses them. With none left `reserved` refuses the call. */
export function withPricedTargets(call: Call, choice: Choice, prices: PriceBook): Choice {
  if (!refusesUnpriced(call.key) || !isBilled(call, choice)) return choice;
  const [first, ...others] = choice.targets.filter((target) => isPriced(call, target, prices));
  return first ? { ...choice, targets: [first, ...others] } : choice;
}

/** Of an address whose usage is not known, nothing is. */
const isPriced = ({ surface, admittedAt }: Call, { provider, model, wire }: Target, prices: PriceBook) =>
  wire !== "vendor" &&
  model !== null &&
  isPricedFor(surface, prices.priceOf(provider, model, admittedAt.getTime()));

const isBilled = ({ surface }: Call, { channel }: Choice): boolean =>
  !surfaceFacts(surface).free && !surfaceFacts(surface).unrecorded && channel !== "subscription";

type Demand = { choice: Choice; prices: PriceBook; recorded: boolean };

/** A place at the providers, and what the key's limits leave for the most that a call can use; else the refusal. */
function reserved(
  limiter: Pick<Limiter, "reserve">,
  call: Call,
  { choice, prices, recorded }: Demand,
): ReturnType<Limiter["reserve"]> | GatewayError {
  const { id, key, admittedAt } = call;
  const limited = { id, key, admittedAt, recorded };
  if (refusesUnpriced(key) && isBilled(call, choice) && !isPriced(call, choice.targets[0], prices)) {
    // Claude Code's protocol has 400 for a model that its signed-in user may not use.
    return key.program === "claude_code"
      ? new GatewayError("invalid_request", ERRORS.unpriced_model.public)
      : new GatewayError("unpriced_model");
  }
  return (
    call.places?.refusedAt(choice.targets) ??
    limiter.reserve(limited, () => limitDemandOf(call, choice, prices))
  );
}

type Admission = { grant: Grant; refusal: GatewayError | null; soft: Response | null };
type Admits = {
  limiter: Pick<Limiter, "reserve">;
  guardrailTriggered(rule: string, outcome: "block" | "soft_deny"): void;
};
type Admitting = Demand & { verdict: GuardrailVerdict };

const admitted = (found: Grant | GatewayError): Admission =>
  found instanceof GatewayError
    ? { grant: UNLIMITED, refusal: found, soft: null }
    : { grant: found, refusal: null, soft: null };

/** What the key's limits leave for a call, or the refusal: theirs, or a guardrail's, which may be softened to an answer. */
export function admission(deps: Admits, call: Call, it: Admitting): Admission | Promise<Admission> {
  const { verdict } = it;
  if (verdict.kind === "pass") {
    const grant = reserved(deps.limiter, call, it);
    return grant instanceof Promise ? grant.then(admitted) : admitted(grant);
  }
  const isSoft = verdict.kind === "soft_deny" && !call.socket?.refused;
  const soft = isSoft ? denialOf(call, it.choice, verdict.message) : null;
  deps.guardrailTriggered(verdict.rule, soft ? "soft_deny" : "block");
  const refusal = new GatewayError("guardrail_blocked", verdict.message ?? undefined);
  return { grant: UNLIMITED, refusal, soft };
}

/** Maximum usage of a call, whichever target answers (decision: Unknown costs under a budget). */
const limitDemandOf = (call: Call, choice: Choice, prices: PriceBook): LimitDemand =>
  demandOf(
    { surface: call.surface, body: call.body, upload: call.upload, targets: choice.targets },
    { prices, atMs: call.admittedAt.getTime(), costs: isBilled(call, choice), tiers: true },
  );

type Bounded = Pick<Call, "surface" | "body"> & {
  upload?: Call["upload"] | undefined;
  targets: readonly Target[];
};
/** `costs`: it is billed. `tiers`: at the service tier that it asks for, or at the standard price. */
type Pricing = { prices: PriceBook; atMs: number; costs: boolean; tiers: boolean };

/** Maximum usage of a request, whichever of the targets answers. */
export function demandOf(
  { surface, body, upload, targets }: Bounded,
  { prices, atMs, costs, tiers }: Pricing,
): LimitDemand {
  const members = new Map<string, unknown>();
  const member = (name: string): unknown => {
    if (!members.has(name)) members.set(name, memberValue(body, name));
    return members.get(name);
  };
  const file = { uploaded: upload !== undefined, uploadBytes: upload?.contentLength ?? null };
  const size = { surface, bytes: body.bytes.length, ...file, member };
  const demand: LimitDemand = { tokens: 0, usd: 0n, minimumUsd: 0n };
  const option = tiers ? optionIn(member) : null;
  const fallbacks = costs && surface === "messages" ? member("fallbacks") : undefined;
  for (const { provider, model, wire } of targets) {
    const bound = usageBound(size, model === null ? null : prices.limits(provider.kind, model).contextTokens);
    demand.tokens = Math.max(demand.tokens, bound.inputTokens + bound.outputTokens);
    if (!costs) continue;
    const priceOf = (name: string | null, tier: string) =>
      name === null ? null : prices.priceOf({ ...provider, tier }, name, atMs);
    const asked = wire === SURFACES[surface].wire || OPENAI_S.has(wire) ? option : null;
    addCost(demand, bound, { standard: priceOf(model, STANDARD), model, option: asked, fallbacks, priceOf });
  }
  return demand;
}

/** Translations leave tiers out of all others. */
const OPENAI_S: ReadonlySet<string> = new Set(["chat", "responses"]);

type Payable = {
  standard: PriceEntry | null;
  model: string | null;
  option: { tier: string; text: string } | null;
  fallbacks: unknown;
  priceOf(model: string | null, tier: string): PriceEntry | null;
};

/** Raises the demand to what one target may cost. */
function addCost(
  demand: LimitDemand,
  bound: UsageBound,
  { standard, model, option, fallbacks, priceOf }: Payable,
): void {
  const asked = option && priceOf(model, option.tier);
  const least = { ...bound, outputTokens: bound.outputBounded ? bound.outputTokens : 0, soundSeconds: 0 };
  const [most, leastOfThem] = [bound, least].map((counts) => fallbacksBound(fallbacks, counts, priceOf));
  const unpriced = most === null ? "fallbacks" : option && !asked ? option.text : null;
  if (standard && unpriced !== null) {
    demand.unpricedOption = unpriced;
    demand.usd = demand.minimumUsd = UNBOUNDED;
    return;
  }
  // A tier that has no room may answer at the standard price.
  for (const price of [standard, asked]) {
    demand.usd = larger(demand.usd, picoOf(priceBound(price, bound), most ?? null));
    demand.minimumUsd = larger(demand.minimumUsd, picoOf(priceBound(price, least), leastOfThem ?? null));
  }
}

const picoOf = (usd: Exact | null, besides: Exact | null): Pico =>
  usd === null ? UNKNOWN : picoRoundedUp(plus(usd, besides ?? ZERO));

/** The service tier with prices of its own that the request asks for (OpenAI's, Anthropic's or Google's); null: none. */
function optionIn(member: (name: string) => unknown): { tier: string; text: string } | null {
  for (const name of ["service_tier", "serviceTier", "speed"]) {
    const asked = member(name);
    const tier = typeof asked === "string" ? askedTier(asked) : null;
    if (tier !== null && isPricedApart(tier)) return { tier, text: `${name}: ${tier}` };
  }
  return null;
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

const isGood = (status: number | null | undefined): boolean => status != null && status < 300;

/**
 * The record of an ended call as budgets count it: an answer of unknown cost keeps the bounded part of what it may have
 * cost (decision: Unknown costs under a budget). An upload's bound says nothing about its size.
 */
export function countedRow(row: RequestRow, { upload }: Call, { boundUsd, unknownUsd }: Grant): RequestRow {
  // What it may cost stays reserved until its provider says what it did.
  if (row.pending && boundUsd !== undefined) return { ...row, boundUsd };
  const answered = row.state === "ok" || row.state === "client_gone";
  if (unknownUsd === undefined || !answered || row.costUsd != null || upload) return row;
  return { ...row, boundUsd: unknownUsd };
}

/** A call's usage, from its record. A failed call used no tokens. */
function callUsageOf(row: RequestRow): CallUsage {
  const { state, status, costUsd, boundUsd, inputTokens, outputTokens } = row;
  const known = inputTokens != null || outputTokens != null;
  // An error inside an answer with a good status may come after content.
  const failed = state === "denied" || (state === "upstream_error" && !isGood(status));
  return {
    costUsd: costUsd ?? boundUsd ?? null,
    tokens: known || failed ? (inputTokens ?? 0) + (outputTokens ?? 0) : null,
  };
}

type Records = Record<"open" | "settle", (row: RequestRow) => Promise<void>>;

/** For calls that produce nothing billable: they have a span, and no record. */
export const unrecorded = (telemetry: Pick<Telemetry, "ended">): Records => ({
  open: async () => undefined,
  settle: async (row) => telemetry.ended(row),
});

/** Writes the intent to disk; on failure the reservation is released. */
export const opened = (recorder: Pick<Records, "open">, entry: RequestRow, grant: Grant): Promise<void> =>
  recorder.open(grant.boundUsd ? { ...entry, boundUsd: grant.boundUsd } : entry).catch(async (error) => {
    await grant.release();
    throw error;
  });

export function settled(recorder: Pick<Records, "settle">, row: RequestRow, grant: Grant): Promise<void> {
  const ended = grant.settle(callUsageOf(row));
  return ended === null ? recorder.settle(row) : ended.then(() => recorder.settle(row));
}
