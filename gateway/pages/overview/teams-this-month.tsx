import { useQueries, useQuery } from "@tanstack/react-query";
import type { Budgets, BudgetView } from "#shared/admin/budgets.ts";
import type { ForecastView } from "#shared/admin/forecast.ts";
import type { Row } from "#shared/report.ts";
import { getJson, queryOf } from "../data/api.ts";
import type { OverviewParts } from "../data/overview.ts";
import { BudgetBar } from "../parts/budget-bar.tsx";
import { shareOf } from "../parts/budget-rows.tsx";
import { type Columns, cell, figure, money, number, opens } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { Panel } from "../parts/page.tsx";
import { Money } from "../parts/values.tsx";

const REFRESH = { refetchInterval: 60_000 };
const SHOWN_MAX = 6;

type TeamMonth = {
  team: string;
  spend: Row;
  merges: Row | undefined;
  /** The team's budget for a month. */
  budget: BudgetView | undefined;
  forecast: ForecastView["forecast"];
};

/** The costliest teams of the month: what a merged pull request costs, the budget, and where the month will end. */
export function TeamsThisMonth({ parts: { teams, team_merges: merges } }: { parts: OverviewParts }) {
  const spends = (teams?.rows ?? []).filter(({ current }) => current !== null).slice(0, SHOWN_MAX);
  const { data: budgets } = useQuery({
    queryKey: ["budgets"],
    queryFn: ({ signal }) => getJson<Budgets>("/admin/v1/budgets", signal),
    ...REFRESH,
  });
  const forecasts = useQueries({
    queries: spends.map(({ groups: [team = ""] }) => ({
      queryKey: ["forecast", team],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getJson<ForecastView>(`/admin/v1/forecast${queryOf({ team })}`, signal),
      ...REFRESH,
    })),
  });
  if (spends.length === 0) return null;
  const rows = spends.map((spend, i): TeamMonth => {
    const [team = ""] = spend.groups;
    return {
      team,
      spend,
      merges: merges?.rows.find(({ groups }) => groups[0] === team),
      budget: budgets?.data.find(
        ({ on, period }) => on.kind === "team" && on.id === team && period === "month",
      ),
      forecast: forecasts[i]?.data?.forecast ?? null,
    };
  });
  return (
    <Panel
      title="Teams this month"
      sub="The costliest teams. Budgets and forecasts include the teams below them; four of five months end within the range."
    >
      <DataTable label="Teams this month" columns={columnsOf(rows)} rows={rows} rowKey={["team"]} />
    </Panel>
  );
}

// For sorting and colours only; the amounts are shown as they are.
const mergesOf = ({ merges }: TeamMonth): number => merges?.current?.merged_prs ?? 0;
const costOf = ({ merges }: TeamMonth): number | null => merges?.current?.cost_per_merged_pr ?? null;
const spendOf = ({ spend }: TeamMonth): number | null => spend.current?.cost_usd ?? null;
const endOf = ({ forecast }: TeamMonth): number | null => forecast && Number(forecast.expected_usd);
const NONE = <span className="mute">–</span>;

const columnsOf = (rows: readonly TeamMonth[]): Columns<TeamMonth> => ({
  team: opens(
    "Team",
    ({ team }) => team,
    ({ team }) => ({ to: "/overview", search: { team: [team] } }),
  ),
  spend: money("Spend", spendOf, ({ spend: { floor } }) => ({ floor })),
  cost: figure(
    "Cost per merged pull request",
    (it) => (mergesOf(it) === 0 ? NONE : <Money value={costOf(it)} floor={it.merges?.floor ?? false} />),
    costOf,
  ),
  merged: number("Merged", mergesOf),
  budget: cell(
    "Budget",
    ({ budget }) =>
      budget ? (
        <div className="nowrap">
          <Money value={budget.used_usd} /> <span className="mute">of</span>{" "}
          <Money value={budget.amount_usd} />
          <BudgetBar
            share={shareOf(budget)}
            most={Math.max(...rows.map((it) => (it.budget ? shareOf(it.budget) : 0)))}
          />
        </div>
      ) : (
        NONE
      ),
    ({ budget }) => (budget ? shareOf(budget) : null),
  ),
  forecast: figure(
    "Forecast",
    ({ forecast, budget }) =>
      forecast ? (
        <>
          <strong
            className={budget && Number(forecast.expected_usd) > Number(budget.amount_usd) ? "bad" : ""}
          >
            <Money value={forecast.expected_usd} />
          </strong>{" "}
          <small className="mute">
            <Money value={forecast.low_usd} /> to <Money value={forecast.high_usd} />
          </small>
        </>
      ) : (
        NONE
      ),
    endOf,
  ),
});
