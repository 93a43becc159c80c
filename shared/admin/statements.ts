import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, Integer, IntegerOrNull, nullable, oneOf, Text } from "../schema.ts";

export const STATEMENT_BY = ["team", "cost_center"] as const;
export type StatementBy = (typeof STATEMENT_BY)[number];

const Money = Text("Exact decimal, USD.");
export const StatementLine = closed({
  name: Text("The team or cost centre; `(none)`: calls without one."),
  requests: Type.Integer(),
  people: Type.Integer(),
  input_tokens: Type.String(),
  output_tokens: Type.String(),
  unpriced_requests: Integer("Calls whose cost is unknown."),
  floor: Flag("The cost is a lower bound."),
  cost_usd: { ...Money, description: "Known cost, without the subscription lane. Exact decimal, USD." },
  list_cost_usd: nullable({ ...Money, description: "At list prices; null: unknown. Exact decimal, USD." }),
  savings_usd: nullable({ ...Money, description: "List cost − cost, where both are known." }),
});
export type StatementLine = Static<typeof StatementLine>;

/** What a statement says. A closed month keeps it. */
export const StatementContent = closed({ lines: Type.Array(StatementLine), total: StatementLine });
export type StatementContent = Static<typeof StatementContent>;

/** `GET /admin/v1/statements`. */
export const MonthStatement = closed({
  month: Type.String(),
  by: oneOf(STATEMENT_BY),
  version: IntegerOrNull("Which closing of the month made it; null: made now."),
  closed_at: nullable(Type.String()),
  lines: Type.Array(
    closed({
      ...StatementLine.properties,
      records: Text("Query of `GET /admin/v1/requests`, and of the console's Requests, for its records."),
    }),
  ),
  total: StatementLine,
  versions: Type.Array(closed({ version: Type.Integer(), closed_at: Type.String(), actor: Type.String() })),
});
export type MonthStatement = Static<typeof MonthStatement>;
