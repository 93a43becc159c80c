import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, Integer, nullable, oneOf, Text, TextOrNull } from "../schema.ts";
import { Instant } from "./fields.ts";

const Prices = (description: string) => Type.Unknown({ description });
const AnyText = nullable(Type.String());

/** A difference between the fetched price list and the built-in one. */
export const PriceChangeView = closed({
  id: Type.String({ format: "uuid" }),
  state: oneOf(["new", "waiting", "approved", "dismissed"]),
  provider: Text("The list's name of the provider."),
  model: Text("The list's id of the model."),
  effective_from: TextOrNull("Calls from then on have this price. Null: all calls, or undecided."),
  seen_at: Type.String(),
  actor: TextOrNull("Who approved or dismissed it."),
  decided_at: AnyText,
  before: Prices(
    "The prices that applied when it was seen, as the list writes them. Null: the model had none.",
  ),
  after: Prices("The fetched prices."),
  offers: Type.Array(
    closed({
      model: Type.String(),
      from: Type.String(),
      to: Type.String(),
      records: Integer("Unpriced records of the last 92 days that it gives a price."),
    }),
    {
      description:
        "Of a new model: what `POST /admin/v1/prices/restate` can price now, by the name that calls used.",
    },
  ),
});
export type PriceChangeView = Static<typeof PriceChangeView>;

export const PriceChanges = closed({
  fetched_at: TextOrNull("When the public list was fetched last. Null: never."),
  fetches: Flag("Whether `PRICES_URL` is set."),
  missing: Type.Array(Type.String(), {
    description:
      "Models (`provider/model`, or `provider/*`) that the fetched list does not have, although the current one does. They keep their price.",
  }),
  data: Type.Array(PriceChangeView),
});
export type PriceChanges = Static<typeof PriceChanges>;

/** `POST /admin/v1/prices/changes/{id}/approve`. */
export const PriceApproval = closed({
  effective_from: Type.Optional(Instant("Calls from then on have this price. Default: from now on.")),
});

/** `POST /admin/v1/prices/refresh`. */
export const PriceRefresh = closed({
  fetched_at: Type.String(),
  new_models: Integer("Models that have a price since now."),
  waiting: Integer("Changed prices that wait for approval since now."),
  missing: Integer("Models that the list no longer has: they keep their price."),
});
