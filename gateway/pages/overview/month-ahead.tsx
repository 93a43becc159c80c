import { Link } from "@tanstack/react-router";
import type { Budgets } from "#shared/admin/budgets.ts";
import type { Anomalies, ForecastView } from "#shared/admin/forecast.ts";
import { useJson } from "../data/api.ts";
import { BudgetRows } from "../parts/budget-rows.tsx";
import { utcDay } from "../parts/dates.ts";
import { Panel } from "../parts/page.tsx";
import { Foreign, Money } from "../parts/values.tsx";

const REFRESH = { refetchInterval: 60_000 };
const SHOWN_MAX = 6;

/** Where the month will end. Nothing before two weeks of calls are known. */
export function MonthAhead() {
  const { data } = useJson<ForecastView>(["forecast"], "/admin/v1/forecast", REFRESH);
  if (!data?.forecast) return null;
  const { spent_usd: spent, forecast, to } = data;
  return (
    <Panel
      title="Forecast of the month"
      sub="By the weekdays of the last twelve weeks; four of five months end within the range."
    >
      <p>
        <Money value={spent} /> so far;{" "}
        <strong>
          <Money value={forecast.expected_usd} />
        </strong>{" "}
        expected by {utcDay(Date.parse(to) - 1)}, between <Money value={forecast.low_usd} /> and{" "}
        <Money value={forecast.high_usd} />.
      </p>
    </Panel>
  );
}

const PARTS = ["volume", "mix", "rate"] as const;

/** Days of the last week on which a team, a model or a key cost far more than usual. Hidden when there are no such days. */
export function AnomalyList() {
  const { data } = useJson<Anomalies>(["anomalies"], "/admin/v1/anomalies", REFRESH);
  if (!data || data.data.length === 0) return null;
  const more = data.data.length - SHOWN_MAX;
  return (
    <Panel
      title="Anomalies"
      sub="Days of the last week that cost far more than the same weekday usually does. Each opens what moved it."
    >
      {data.data
        .slice(0, SHOWN_MAX)
        .map(({ kind, name, day, usd, usual_usd: usual, rate_mix_volume: why }) => (
          <div className="bar-row" key={`${kind} ${name} ${day}`}>
            <div style={{ minWidth: 0 }}>
              <Link to="/overview" search={{ [kind]: [name], from: day, to: day }} className="row-link">
                <Foreign text={name} />
              </Link>{" "}
              <small className="mute">
                {kind}, on {utcDay(Date.parse(day))}
                {why && `, mostly by ${PARTS.reduce((a, b) => (Number(why[b]) > Number(why[a]) ? b : a))}`}
              </small>
            </div>
            <span className="number">
              <Money value={usd} /> <span className="mute">usually</span> <Money value={usual} />
            </span>
            <span className="number small warn">{(Number(usd) / Number(usual)).toFixed(1)} ×</span>
          </div>
        ))}
      {more > 0 && <p className="mute small">And {more} more.</p>}
    </Panel>
  );
}

/** Budgets that are nearly used up, or will be at this pace. Draws nothing without such budgets. */
export function BudgetsAtRisk() {
  const { data } = useJson<Budgets>(["budgets", "at-risk"], "/admin/v1/budgets?at_risk=true", REFRESH);
  if (!data || data.data.length === 0) return null;
  const shown = data.data.slice(0, SHOWN_MAX);
  const more = data.data.length - shown.length;
  return (
    <Panel
      title="Budgets at risk"
      sub="More than 80 % is used, or the budget will be exceeded by the end of its period, as forecast or at the current pace."
    >
      <BudgetRows budgets={shown} />
      {more > 0 && <p className="mute small">And {more} more that are less used.</p>}
    </Panel>
  );
}
