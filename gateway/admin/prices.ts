import {
  PriceBody,
  PricePatch,
  type PriceView,
  UnpricedModels,
  PriceView as View,
} from "#shared/admin/prices.ts";
import { PricesInForce } from "#shared/admin/prices-in-force.ts";
import { keysOf } from "#shared/keys-of.ts";
import { viewAs } from "#shared/view-as.ts";
import { refuse } from "../errors.ts";
import { STANDARD } from "../pricing/tier.ts";
import { PRICES, type PriceFields, type PriceOverrideRow } from "../stores/prices.ts";
import { editedFields } from "../stores/rows.ts";
import type { AdminDeps } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { pricesInForce } from "./prices-in-force.ts";
import { adminTerms } from "./terms.ts";
import { unpricedModels } from "./unpriced-models.ts";

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

const NO_AMOUNTS = {
  input: null,
  output: null,
  cachedInput: null,
  cacheWrite5m: null,
  cacheWrite1h: null,
  perImage: null,
  perCharacter: null,
  perCall: null,
};
const AMOUNTS = keysOf(NO_AMOUNTS);
const NEW: PriceFields = {
  provider: null,
  model: "",
  effectiveFrom: "",
  tier: STANDARD,
  multiplier: null,
  ...NO_AMOUNTS,
};

/**
 * The price with what the body gives: an absent amount stays, null takes one away.
 * @throws GatewayError unless it then has amounts, or a multiplier alone
 */
function patched(current: PriceFields | null, body: PricePatch): PriceFields {
  const price = editedFields(current ?? NEW, body, [...AMOUNTS, "multiplier"]);
  const fault = faultIn(price);
  if (fault) refuse(fault);
  return price;
}

function faultIn({ multiplier, ...price }: PriceFields): string | null {
  const named = AMOUNTS.some((name) => price[name] !== null);
  if (multiplier !== null && named) return "/multiplier: Expected a multiplier or amounts, not both.";
  return multiplier === null && !named ? "/input: Expected an amount such as input, or a multiplier." : null;
}
