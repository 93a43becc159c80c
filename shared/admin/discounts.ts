import { type Static, Type } from "@sinclair/typebox";
import { checked, closed, nullable, Text } from "../schema.ts";
import { Instant, Name, readDecimal, SingleLine } from "./fields.ts";

const PERCENT_DECIMALS_MAX = 4;

const isPercent = (text: string): boolean =>
  Number(text) > 0 && Number(text) <= 100 && (text.split(".")[1] ?? "").length <= PERCENT_DECIMALS_MAX;

const Percent = checked<string | number>(
  {
    type: ["string", "number"],
    exclusiveMinimum: 0,
    maximum: 100,
    description: "What the contract takes off the list price, in percent.",
  },
  `a percentage above 0, at most 100, with at most ${PERCENT_DECIMALS_MAX} decimals`,
  (value) => isPercent(readDecimal(value) ?? "0"),
);

const names = (description: string) =>
  nullable(Type.Array(SingleLine(256), { minItems: 1, maxItems: 100, uniqueItems: true, description }));

const members = {
  provider: { ...Name, description: "The provider whose calls cost less." },
  percent: Percent,
  effective_from: Instant("Calls from then on are discounted."),
  effective_to: nullable(Instant("Calls from then on are not. Null: no end.")),
  models: names("Globs of the models, such as `claude-*`. Null: all."),
  tiers: names("Service tiers, such as `standard` or `priority`. Null: all."),
};
const { provider, percent, effective_from, ...optional } = members;

/** `POST /admin/v1/discounts`. */
export const DiscountBody = closed({
  provider,
  percent,
  effective_from,
  ...Type.Partial(closed(optional)).properties,
});
export type DiscountBody = Static<typeof DiscountBody>;
/** `PATCH /admin/v1/discounts/{id}`: absent members are kept. */
export const DiscountPatch = Type.Partial(closed(members));
export type DiscountPatch = Static<typeof DiscountPatch>;

export const DiscountView = closed({
  id: Type.String({ format: "uuid" }),
  provider: Type.String(),
  percent: Text("Exact decimal."),
  effective_from: Type.String(),
  effective_to: nullable(Type.String()),
  models: nullable(Type.Array(Type.String())),
  tiers: nullable(Type.Array(Type.String())),
  created_at: Type.String(),
});
export type DiscountView = Static<typeof DiscountView>;
