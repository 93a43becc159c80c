import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf } from "../schema.ts";
import { BUDGET_PERIODS } from "./keys.ts";

const BUDGET_KINDS = ["team", "person", "own_keys", "key"] as const;

/** A budget of a team, a person or a key in its current period. */
export const BudgetView = closed({
  kind: oneOf(
    BUDGET_KINDS,
    "`own_keys`: that of the template, for all keys that a person made together, revoked ones included.",
  ),
  name: Type.String({ description: "Of the team or the key; a person's e-mail." }),
  owner: nullable(Type.String({ description: "The person. Null: a team, or a service account." })),
  budget_usd: Type.String({ description: "Exact decimal: what may be spent per `period`." }),
  period: oneOf(BUDGET_PERIODS),
  from: Type.String({ description: "First day of the current period (UTC)." }),
  to: Type.String({ description: "The day after its last." }),
  used_usd: Type.String({
    description: "Exact decimal: known cost of the period's recorded calls. Calls under way are not in it.",
  }),
  projected_usd: nullable(
    Type.String({
      description:
        "Exact decimal: `used_usd` at the end of the period at the current pace. Null in the first tenth of a period, when it is too early to project.",
    }),
  ),
  at_risk: Type.Boolean({
    description: "More than 80 % is used, or `projected_usd` is above the budget.",
  }),
});
export type BudgetView = Static<typeof BudgetView>;

/** `GET /admin/v1/budgets`. */
export const Budgets = closed({ data: Type.Array(BudgetView) });
export type Budgets = Static<typeof Budgets>;
