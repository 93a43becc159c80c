import type { ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import { type Static, Type } from "@sinclair/typebox";
import { isRecord } from "#shared/json.ts";
import { fits } from "#shared/schema.ts";
import { type NamesOf, wholeNames } from "./list-lookup.ts";

const Amount = Type.Number({ minimum: 0 });
const Prices = Type.Record(
  Type.String(),
  Type.Union([
    Amount,
    Type.Object({ base: Amount, tiers: Type.Array(Type.Object({ start: Amount, price: Amount })) }),
    Type.Null(),
  ]),
);
const text = (name: string) => Type.Object({ [name]: Type.String() });
const Match = Type.Recursive((match) =>
  Type.Union([
    ...["equals", "starts_with", "ends_with", "contains", "regex"].map(text),
    Type.Object({ or: Type.Array(match) }),
    Type.Object({ and: Type.Array(match) }),
  ]),
);
const Clock = Type.String({ pattern: "^\\d\\d:\\d\\d(:\\d\\d)?" });
/** A model as the public list's file has it. */
const FileModel = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  match: Match,
  context_window: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  prices: Type.Union([
    Type.Array(
      Type.Object({
        constraint: Type.Optional(
          Type.Union([
            Type.Object({ start_date: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$" }) }),
            Type.Object({ start_time: Clock, end_time: Clock }),
            Type.Null(),
          ]),
        ),
        prices: Prices,
      }),
    ),
    Prices,
  ]),
});
type FileModel = Static<typeof FileModel>;
const File = Type.Array(Type.Object({ id: Type.String(), models: Type.Array(Type.Unknown()) }), {
  minItems: 1,
});

/** What a fetched list says of a model that the current list does not. `before`: its prices there; null: it lacks the model. */
export type ListDiff = { provider: string; entry: ModelInfo; before: ModelInfo["prices"] | null };

/**
 * Compares the public list's file with the current list, for some of its providers. Models that the file lacks (`missing`, as
 * `provider/model`, or `provider/*` for all) keep their prices, and what has not the form of a model is left out. Null: not a list.
 */
export function listDiff(
  file: unknown,
  providers: ReadonlySet<string>,
  namesOf: NamesOf,
): { changes: ListDiff[]; missing: string[] } | null {
  if (!fits(File, file)) return null;
  const missing = [...providers].flatMap((provider) => {
    const { models: known } = namesOf(provider);
    const listed = file.find(({ id }) => id === provider);
    if (!listed) return known.length > 0 ? [`${provider}/*`] : [];
    const ids = new Set(listed.models.map((model) => isRecord(model) && model["id"]));
    return known.flatMap(({ id }) => (ids.has(id) ? [] : [`${provider}/${id}`]));
  });
  const changes = file
    .filter(({ id }) => providers.has(id))
    .flatMap(({ id: provider, models }) => {
      const { models: known, exact } = namesOf(provider);
      return models.flatMap((model): ListDiff[] => {
        if (!fits(FileModel, model)) return [];
        const entry = entryOf(model);
        const there = known.find(({ id }) => id === entry.id);
        if (!there) return [{ provider, entry, before: null }];
        const before = there.later.at(-1)?.prices ?? there.prices;
        if (canonical(before) !== canonical(entry.prices)) return [{ provider, entry, before }];
        const isNamed = wholeNames(entry.match).every((name) => exact.has(name.toLowerCase()));
        return isNamed ? [] : [{ provider, entry, before: null }];
      });
    });
  return { changes, missing: missing.sort() };
}

/** As the package has it: constraints with their type, and nothing that is null. */
function entryOf({ id, match, context_window: context, prices }: FileModel): ModelInfo {
  // The schema is that of the package's type, but for what is null.
  const known = (all: Static<typeof Prices>) =>
    Object.fromEntries(Object.entries(all).filter(([, price]) => price !== null)) as ModelPrice;
  const asPackage = Array.isArray(prices)
    ? prices.map(({ constraint, prices: those }) => ({
        ...(constraint && {
          constraint:
            "start_date" in constraint
              ? { type: "start_date" as const, start_date: constraint.start_date }
              : {
                  type: "time_of_date" as const,
                  start_time: constraint.start_time,
                  end_time: constraint.end_time,
                },
        }),
        prices: known(those),
      }))
    : known(prices);
  return {
    id,
    match: match as ModelInfo["match"],
    ...(context != null && { context_window: context }),
    prices: asPackage,
  };
}

/** The same text for the same prices, in whatever order and with whatever is absent. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, it: unknown) =>
    typeof it === "object" && it !== null && !Array.isArray(it)
      ? Object.fromEntries(
          Object.entries(it)
            .filter(([, member]) => member !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : it,
  );
