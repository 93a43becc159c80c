import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, nullable, oneOf, Removable, Text, TextOrNull } from "../schema.ts";
import { Dated, Name, pageOf, SingleLine, Usd } from "./fields.ts";
import { UnpricedField, WHEN_AWAY } from "./keys.ts";

/** What a named budget may be on. */
const BUDGET_SCOPES = ["organisation", "team", "person", "key", "route", "tag"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];
/** UTC; a week begins on Monday. */
export const PERIODS = ["day", "week", "month", "quarter"] as const;
export type PeriodName = (typeof PERIODS)[number];
const MODES = ["hard", "soft"] as const;

/** Where a budget without thresholds of its own alerts, in per cent. */
export const THRESHOLDS = [50, 80, 100];

const On = closed({
  kind: oneOf(BUDGET_SCOPES),
  id: Removable(
    SingleLine(
      256,
      "The team's, route's or tag's name, the person's e-mail, or the key's name or id. Absent for the organisation.",
    ),
  ),
});
const members = {
  period: Type.Optional(oneOf(PERIODS, "UTC; a week begins on Monday. Default: `month`.")),
  mode: Type.Optional(
    oneOf(
      MODES,
      "`hard`, the default, refuses calls over the budget. `soft` refuses nothing, and only alerts.",
    ),
  ),
  thresholds: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
      maxItems: 10,
      uniqueItems: true,
      description: "Per cent of the budget at which alerts are due. Default: 50, 80 and 100.",
    }),
  ),
  unpriced: Type.Optional(UnpricedField),
  when_away: Type.Optional(
    oneOf(
      WHEN_AWAY,
      "What a gateway does while the database is unavailable. `local`, the default: it counts calls locally and settles them later. `refuse`: it admits its share of the budget, then answers 503.",
    ),
  ),
};
const Amount = Usd("What may be spent per `period`.");
const whole = { on: On, amount_usd: Amount, ...members };

/** `POST /admin/v1/budgets`. */
export const BudgetBody = closed({ name: Name, ...whole });
/** `PATCH /admin/v1/budgets/{name}`: absent members are kept. */
export const BudgetPatch = closed({ on: Type.Optional(On), amount_usd: Type.Optional(Amount), ...members });
export type BudgetPatch = Static<typeof BudgetPatch>;

/** What a period will have cost at its end. */
export const PeriodForecast = nullable({
  ...closed({
    expected_usd: Text("Decimal, USD."),
    low_usd: Text("Nine periods of ten end above this."),
    high_usd: Text("Nine periods of ten end below this."),
  }),
  description:
    "By the weekdays before. Null: less than two weeks of calls are known, or the period is a day.",
});

const OnView = closed({ kind: oneOf(BUDGET_SCOPES), id: nullable(Type.String()) });
const terms = {
  on: OnView,
  amount_usd: Text("Exact decimal."),
  period: oneOf(PERIODS),
  mode: oneOf(MODES),
  thresholds: Type.Array(Type.Integer()),
  unpriced: UnpricedField,
  when_away: oneOf(WHEN_AWAY),
};

/** A named budget. */
export const NamedBudget = closed({ name: Name, ...terms, ...Dated });
export type NamedBudget = Static<typeof NamedBudget>;

const BUDGET_KINDS = ["team", "person", "own_keys", "key", "budget"] as const;
export type BudgetKind = (typeof BUDGET_KINDS)[number];

/** A budget in its current period. */
export const BudgetView = closed({
  kind: oneOf(
    BUDGET_KINDS,
    "Where it is kept: with its `team`, `person` or `key`, or as a separate `budget`. `own_keys`: in the template, for all keys that a person made together, revoked ones included.",
  ),
  name: Text("Of the team, the key or the budget; a person's e-mail."),
  owner: TextOrNull("The person; null: none."),
  ...terms,
  budget_usd: Text("The same as `amount_usd`."),
  from: Text("First day of the current period (UTC)."),
  to: Text("The day after its last."),
  used_usd: Text("Exact decimal: known cost of the period's recorded calls. Calls under way are not in it."),
  projected_usd: TextOrNull(
    "Exact decimal: `used_usd` at the end of the period at the current pace. Null in the first tenth of a period, when it is too early to project.",
  ),
  forecast: PeriodForecast,
  at_risk: Flag("More than 80 % is used, or `projected_usd` or the forecast is above the budget."),
});
export type BudgetView = Static<typeof BudgetView>;

/** `GET /admin/v1/budgets`. */
export const Budgets = pageOf(BudgetView);
export type Budgets = Static<typeof Budgets>;
