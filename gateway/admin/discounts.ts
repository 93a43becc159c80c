import { DiscountBody, DiscountPatch, DiscountView } from "#shared/admin/discounts.ts";
import { readDecimal, readInstant } from "#shared/admin/fields.ts";
import { GatewayError } from "../errors.ts";
import { DISCOUNTS, type DiscountFields, type DiscountRow } from "../stores/discounts.ts";
import type { AdminDeps } from "./deps.ts";
import { adminTerms } from "./terms.ts";
import { viewAs } from "./view-as.ts";

/** `/admin/v1/discounts`: what contracts take off the list prices of a provider. */
export const adminDiscounts = (deps: AdminDeps) =>
  adminTerms(deps, {
    noun: "discount",
    words: {
      description:
        "Of several for a call, one that names models wins, then the latest. A price of your own has no discount. Fees of searches are not discounted.",
    },
    schemas: { body: DiscountBody, patch: DiscountPatch, view: DiscountView },
    store: DISCOUNTS,
    patched,
    view: (row: DiscountRow): DiscountView => viewAs(DiscountView, row),
  });

const NEW: DiscountFields = {
  provider: "",
  percent: "",
  effectiveFrom: "",
  effectiveTo: null,
  models: null,
  tiers: null,
};

/** The discount with what the body gives. @throws GatewayError if it would end before it begins. */
function patched(current: DiscountFields | null, body: DiscountPatch): DiscountFields {
  const present = current ?? NEW;
  const { effective_from: from, effective_to: to, percent } = body;
  const given = <T>(value: T | undefined, before: T): T => (value === undefined ? before : value);
  const it = {
    provider: given(body.provider, present.provider),
    percent: percent === undefined ? present.percent : (readDecimal(percent) ?? present.percent),
    effectiveFrom: from === undefined ? present.effectiveFrom : stored(from),
    effectiveTo: to === undefined ? present.effectiveTo : to && stored(to),
    models: given(body.models, present.models),
    tiers: given(body.tiers, present.tiers),
  };
  if (it.effectiveTo !== null && it.effectiveTo <= it.effectiveFrom) {
    throw new GatewayError("invalid_request", "/effective_to: Expected a time after effective_from.");
  }
  return it;
}

const stored = (instant: string): string => new Date(readInstant(instant) ?? 0).toISOString();
