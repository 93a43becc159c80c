import { DiscountBody, DiscountPatch, DiscountView } from "#shared/admin/discounts.ts";
import { viewAs } from "#shared/view-as.ts";
import { DISCOUNTS, type DiscountFields, type DiscountRow } from "../stores/discounts.ts";
import { editedFields } from "../stores/rows.ts";
import type { AdminDeps } from "./deps.ts";
import { adminTerms } from "./terms.ts";

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
    patched: (current: DiscountFields | null, body: DiscountPatch): DiscountFields =>
      editedFields(current ?? NEW, body, ["percent"]),
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
