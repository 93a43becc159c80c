import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf, Text } from "../schema.ts";
import { PERIODS, PeriodForecast } from "./budgets.ts";

const Usd = (description: string) => Text(`${description} Decimal, USD.`);
export const FORECAST_SCOPES = ["organisation", "team", "person", "key", "budget"] as const;

/** `GET /admin/v1/forecast`. */
export const ForecastView = closed({
  scope: closed({ kind: oneOf(FORECAST_SCOPES), id: nullable(Type.String()) }),
  period: oneOf(PERIODS),
  from: Text("First day of the current period (UTC)."),
  to: Text("The day after its last."),
  spent_usd: Usd("What is recorded so far, as budgets count it."),
  forecast: PeriodForecast,
});
export type ForecastView = Static<typeof ForecastView>;

const exact = Text("Exact decimal, USD.");
const MOVED = { delta_usd: exact, volume: exact, mix: exact, rate: exact };

export const ANOMALY_KINDS = ["team", "model", "key"] as const;

/** `GET /admin/v1/anomalies`. */
export const Anomalies = closed({
  from: Text("The first day that was judged."),
  data: Type.Array(
    closed({
      kind: oneOf(ANOMALY_KINDS),
      name: Type.String(),
      day: Text("UTC."),
      usd: Usd("What the day cost."),
      usual_usd: Usd("The median of the same weekday in the twelve weeks before."),
      rate_mix_volume: {
        ...nullable(
          closed({
            since: Text("The same weekday a week before."),
            ...MOVED,
          }),
        ),
        description:
          "What moved the cost since a week before. Null: single records of these days are missing or no longer kept, and for anomalies after the first 20.",
      },
    }),
  ),
});
export type Anomalies = Static<typeof Anomalies>;
