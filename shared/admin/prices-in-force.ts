import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf, Text, TextOrNull } from "../schema.ts";

const Money = TextOrNull("Exact decimal, USD.");

/** `GET /admin/v1/prices/in-force`: what models that are used or routed to cost at a point in time. */
export const PricesInForce = closed({
  at: Text("The end of the day that was asked for, or now. RFC 3339."),
  list: closed({
    name: Type.String(),
    version: Type.String(),
    published: Text("The date of that version."),
    fetched: TextOrNull("When the public list was fetched last. Null: never."),
    warning: TextOrNull("After 30 days: how old it is, and what to do."),
  }),
  data: Type.Array(
    closed({
      provider: Type.String(),
      model: Type.String(),
      source: nullable(
        oneOf(
          ["own", "discount", "list"],
          "`discount`: the list's price less your discount. Null: no price is known.",
        ),
      ),
      entry: TextOrNull("The list's entry, or the id of your own price or discount."),
      since: TextOrNull("Of your own price or discount: since when. Null: as long as the list."),
      url: TextOrNull("Where the vendor publishes the list's price."),
      input: Money,
      output: Money,
      cached_input: Money,
      cache_write: Money,
      per_call: Money,
    }),
  ),
});
export type PricesInForce = Static<typeof PricesInForce>;
