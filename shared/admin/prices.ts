import { type Static, Type } from "@sinclair/typebox";
import { boundedText, closed, Integer, nullable, oneOf, Switch, Text, TextOrNull } from "../schema.ts";
import { Instant, Name, SingleLine, Usd } from "./fields.ts";

const perMillion = (what: string) => Usd(`USD per million ${what}.`);

const required = {
  model: boundedText(
    {
      minLength: 1,
      maxLength: 256,
      pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f*]*$",
      description: "The exact name of one model.",
    },
    "a control character or *: a price names one model, so enter one for each",
  ),
  effective_from: Instant("Calls from then on have this price."),
};
const optional = Type.Partial(
  closed({
    provider: nullable({ ...Name, description: "Null: every provider." }),
    tier: SingleLine(
      64,
      "The provider's name for a service tier, such as `flex`, `priority`, `fast` or `batch`; `standard` by default.",
    ),
    multiplier: nullable(
      Usd("Instead of amounts: times the list's price, or in another tier times the standard price."),
    ),
    input: nullable(perMillion("input tokens")),
    output: nullable(perMillion("output tokens")),
    cached_input: nullable(perMillion("input tokens read from the provider's cache")),
    cache_write_5m: nullable(perMillion("input tokens written to the provider's cache for five minutes")),
    cache_write_1h: nullable(perMillion("input tokens written to the provider's cache for one hour")),
    per_image: nullable(Usd("USD per image returned.")),
    per_character: nullable(Usd("USD per character of speech.")),
    per_call: nullable(Usd("USD per call.")),
  }),
).properties;

/** `POST /admin/v1/prices`: amounts, or a `multiplier`. The list's price counts for what has no amount. */
export const PriceBody = closed({ ...required, ...optional });
export type PriceBody = Static<typeof PriceBody>;
/** `PATCH /admin/v1/prices/{id}`: absent members are kept. */
export const PricePatch = Type.Partial(PriceBody);
export type PricePatch = Static<typeof PricePatch>;

const Money = TextOrNull("Exact decimal, USD.");
export const PriceView = closed({
  id: Type.String({ format: "uuid" }),
  provider: nullable(Name),
  model: Type.String(),
  effective_from: Type.String(),
  tier: Type.String(),
  multiplier: TextOrNull("Times the list's or the standard price; exact decimal."),
  input: Money,
  output: Money,
  cached_input: Money,
  cache_write_5m: Money,
  cache_write_1h: Money,
  per_image: Money,
  per_character: Money,
  per_call: Money,
  created_at: Type.String(),
});
export type PriceView = Static<typeof PriceView>;

/** `POST /admin/v1/prices/reprice`: the window is half-open, `from` ≤ start of the call < `to`. */
export const RepriceBody = closed({
  from: Instant("Start of the window."),
  to: Instant("End of the window, not included."),
  dry_run: Switch(false, "Report the sums without changing anything."),
});
export type RepriceBody = Static<typeof RepriceBody>;

/** `POST /admin/v1/prices/restate`. */
export const RestateBody = closed({
  ...RepriceBody.properties,
  provider: Type.Optional({ ...Name, description: "Only records of this provider." }),
  model: Type.Optional(SingleLine(256, "Only records that asked for this model, or that it answered.")),
});
export type RestateBody = Static<typeof RestateBody>;

export const RepriceView = closed({
  dry_run: Type.Boolean(),
  from: Type.String(),
  to: Type.String(),
  unpriced_records: Integer("Unpriced records in the window, before."),
  repriced_records: Integer("How many of them have a price now."),
  old_cost_usd: Text("Known cost of all records in the window, before. Exact decimal."),
  new_cost_usd: Text("The same, after."),
  closed_months: Type.Array(Type.String(), {
    description: "Closed months of the window, such as `2026-10`. Their records stay as they are.",
  }),
});
export type RepriceView = Static<typeof RepriceView>;

const progress = {
  id: Type.String(),
  state: oneOf(["running", "done", "cancelled"]),
  checked_records: Integer("How many of the records were looked at so far."),
  created_at: Type.String(),
  finished_at: nullable(Type.String()),
  failure: TextOrNull("Class of the failure after which the job is waiting to go on."),
};
/** A repricing job and its progress. It continues after a restart. */
export const RepriceJobView = closed({ ...RepriceView.properties, ...progress });
export type RepriceJobView = Static<typeof RepriceJobView>;

const Sum = Text("Exact decimal, USD. What is unknown counts as nothing.");
const sums = { old_cost_usd: Sum, new_cost_usd: Sum, difference_usd: Sum };
export const DifferenceView = closed({
  month: Text("Such as `2026-10` (UTC)."),
  team: nullable(Type.String()),
  model: Type.String(),
  records: Type.Integer(),
  ...sums,
});
export type DifferenceView = Static<typeof DifferenceView>;

const { unpriced_records: _, repriced_records: __, ...window } = RepriceView.properties;
/** A job of restatement and its progress, as a list shows it. */
export const RestatedJob = closed({
  ...window,
  ...progress,
  provider: nullable(Type.String()),
  model: nullable(Type.String()),
  records: Integer("Records to look at, outside closed months."),
  restated_records: Integer("How many of them have another cost or price now."),
  left_records: Integer(
    "Records whose cost does not come from stored counts alone: batches, sound billed by its length, and deleted providers.",
  ),
  ...sums,
});
/** The job with what it changes. */
export const RestateJobView = closed({
  ...RestatedJob.properties,
  differences: Type.Optional(
    Type.Array(DifferenceView, {
      description: "By month, team and model, the greatest first; at most 1,000. Lists leave them out.",
    }),
  ),
});
export type RestateJobView = Static<typeof RestateJobView>;

/** Models without a price in the last 7 days. */
export const UnpricedModels = closed({
  from: Text("Start of the 7 days."),
  data: Type.Array(
    closed({
      provider: nullable(Type.String()),
      model: nullable(Type.String()),
      tier: TextOrNull("The service tier; null is the standard one."),
      requests: Integer("Calls without a cost."),
      first_seen: Type.String(),
      last_seen: Type.String(),
      reason: Text("Why there is no cost, in a sentence."),
      remedy: TextOrNull("What to call, in order; null if a price does not help."),
    }),
  ),
});
export type UnpricedModels = Static<typeof UnpricedModels>;
