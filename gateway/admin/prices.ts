import { readDecimal, readInstant } from "#shared/admin/fields.ts";
import {
  PriceBody,
  PricePatch,
  type PriceView,
  UnpricedModels,
  PriceView as View,
} from "#shared/admin/prices.ts";
import { PricesInForce } from "#shared/admin/prices-in-force.ts";
import { GatewayError } from "../errors.ts";
import { STANDARD } from "../pricing/tier.ts";
import { PRICES, type PriceFields, type PriceOverrideRow } from "../stores/prices.ts";
import type { AdminDeps } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { pricesInForce } from "./prices-in-force.ts";
import { adminTerms } from "./terms.ts";
import { unpricedModels } from "./unpriced-models.ts";
import { viewAs } from "./view-as.ts";

/** `/admin/v1/prices`: prices that win over the built-in list. */
export const adminPrices = (deps: AdminDeps) =>
  adminTerms(deps, {
    noun: "price",
    schemas: { body: PriceBody, patch: PricePatch, view: View },
    store: PRICES,
    patched,
    view: (row: PriceOverrideRow): PriceView => viewAs(View, row),
  })
    .get("/unpriced", () => unpricedModels(deps), { ...UNPRICED_MODELS })
    .get("/in-force", ({ request }) => pricesInForce(deps, request), { ...IN_FORCE });

const docs = adminRoute("prices");
const UNPRICED_MODELS = docs({
  summary: "List models without a price, and how to give them one",
  description: "Of the last 7 days, those with the most calls first.",
  answers: { 200: UnpricedModels },
});

const IN_FORCE = docs({
  summary: "List the prices in force on a day",
  description:
    "Standard prices of models that were called in the last 30 days, are targets of routes, or have a price of your own for their provider.",
  query: { on: "A date: prices at its end (UTC). Default: now." },
  answers: { 200: PricesInForce },
});

const NEW: PriceFields = {
  provider: null,
  model: "",
  effectiveFrom: "",
  tier: STANDARD,
  multiplier: null,
  input: null,
  output: null,
  cachedInput: null,
  cacheWrite5m: null,
  cacheWrite1h: null,
  perImage: null,
  perCharacter: null,
  perCall: null,
};

/**
 * The price with what the body gives: an absent amount stays, null takes one away.
 * @throws GatewayError unless it then has amounts, or a multiplier alone
 */
function patched(current: PriceFields | null, body: PricePatch): PriceFields {
  const before = current ?? NEW;
  const amount = (given: string | number | null | undefined, present: string | null) =>
    given === undefined ? present : readDecimal(given);
  const effectiveFromMs = readInstant(body.effective_from ?? "");
  const amounts = {
    input: amount(body.input, before.input),
    output: amount(body.output, before.output),
    cachedInput: amount(body.cached_input, before.cachedInput),
    cacheWrite5m: amount(body.cache_write_5m, before.cacheWrite5m),
    cacheWrite1h: amount(body.cache_write_1h, before.cacheWrite1h),
    perImage: amount(body.per_image, before.perImage),
    perCharacter: amount(body.per_character, before.perCharacter),
    perCall: amount(body.per_call, before.perCall),
  };
  const price = {
    provider: body.provider === undefined ? before.provider : body.provider,
    model: body.model ?? before.model,
    effectiveFrom: effectiveFromMs === null ? before.effectiveFrom : new Date(effectiveFromMs).toISOString(),
    tier: body.tier ?? before.tier,
    multiplier: amount(body.multiplier, before.multiplier),
    ...amounts,
  };
  const fault = faultIn(price, Object.values(amounts));
  if (fault) throw new GatewayError("invalid_request", fault);
  return price;
}

function faultIn({ multiplier }: PriceFields, amounts: (string | null)[]): string | null {
  const named = amounts.some((amount) => amount !== null);
  if (multiplier !== null && named) return "/multiplier: Expected a multiplier or amounts, not both.";
  return multiplier === null && !named ? "/input: Expected an amount such as input, or a multiplier." : null;
}
