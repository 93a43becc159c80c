import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, Text } from "./schema.ts";

const Usd = Text("Exact USD.");

/** The parts of a change in cost, in the order in which one without a value before or after takes a row's whole change. */
export const MOVES = {
  volume: ["people", "requests_per_person", "units_per_request"],
  mix: ["models", "input_output", "cache", "tiers"],
  rate: ["prices"],
} as const;
export const MOVE_WORDS = {
  people: "Number of people",
  requests_per_person: "Requests per person",
  units_per_request: "Tokens and other units per request",
  models: "Mix of models",
  input_output: "Input and output",
  cache: "Caching, and other kinds of tokens",
  tiers: "Service tiers",
  prices: "Prices of the same thing",
} as const;
export type Move = keyof typeof MOVE_WORDS;
// The keys of the table and nothing else.
export const MOVE_NAMES = Object.keys(MOVE_WORDS) as Move[];

const usdOf = <Name extends string>(names: readonly Name[]) =>
  Type.Unsafe<Record<Name, string>>(closed(Object.fromEntries(names.map((name) => [name, Usd]))));
const PARTS = { volume: Usd, mix: Usd, rate: Usd };

/**
 * What moved the cost since the previous window: the same things dearer (rate), other things (mix), more of them (volume). Each
 * row's parts add up to its change, and rows to the whole, to the last digit.
 */
export const Movement = closed({
  previous_usd: Usd,
  current_usd: Usd,
  delta_usd: Usd,
  ...PARTS,
  parts: usdOf(MOVE_NAMES),
  rows: Type.Array(
    closed({
      model: Type.String(),
      kind: Text("The unit of a price, such as `cache_read`; `other`: not by unit."),
      tier: Type.String(),
      previous_units: Type.String(),
      current_units: Type.String(),
      previous_usd: Usd,
      current_usd: Usd,
      delta_usd: Usd,
      ...PARTS,
    }),
    { description: "The largest change first." },
  ),
  floor: Flag("Calls of unknown or partly known cost are left out or count in part."),
});
export type Movement = Static<typeof Movement>;
