import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf } from "../schema.ts";

const Money = nullable(Type.String({ description: "Exact decimal, USD." }));

/** `GET /admin/v1/prices/in-force`: what models that are used or routed to cost at a point in time. */
export const PricesInForce = closed({
  at: Type.String({ description: "The end of the day that was asked for, or now. RFC 3339." }),
  list: closed({
    name: Type.String(),
    version: Type.String(),
    published: Type.String({ description: "The date of that version." }),
    fetched: nullable(Type.String({ description: "When the public list was fetched last. Null: never." })),
    warning: nullable(Type.String({ description: "After 30 days: how old it is, and what to do." })),
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
      entry: nullable(
        Type.String({ description: "The list's entry, or the id of your own price or discount." }),
      ),
      since: nullable(
        Type.String({ description: "Of your own price or discount: since when. Null: as long as the list." }),
      ),
      url: nullable(Type.String({ description: "Where the vendor publishes the list's price." })),
      input: Money,
      output: Money,
      cached_input: Money,
      cache_write: Money,
      per_call: Money,
    }),
  ),
});
export type PricesInForce = Static<typeof PricesInForce>;
