import { SegmentedControl } from "@mantine/core";
import type { OwnOverview } from "#shared/admin/me.ts";
import type { MeasureName, Result, Row, Unit } from "#shared/report.ts";
import { dimensionWord } from "#shared/report-words.ts";
import { OWN_GROUPS } from "../data/parameters.ts";
import { type FrameSearch, oneNameOf } from "../data/search.ts";
import { Bars } from "../parts/charts/bars.tsx";
import { ChartPanel } from "../parts/charts/chart.tsx";
import { singleSeries } from "../parts/charts/data.ts";
import { type Columns, cell, money, number } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { Empty, Panel } from "../parts/page.tsx";
import { ReportTable } from "../parts/report-table.tsx";
import { windowWords } from "../parts/window-words.ts";
import { SessionLink } from "../sessions/session-link.tsx";

const UNITS: Readonly<Partial<Record<MeasureName, Unit>>> = { cost_usd: "USD" };

export type OwnSearch = Pick<FrameSearch, "range" | "from" | "to"> & { by?: (typeof OWN_GROUPS)[number] };
type OwnUsageProps = {
  overview: OwnOverview;
  search: OwnSearch;
  change: (change: { [K in keyof OwnSearch]?: OwnSearch[K] | undefined }) => void;
};

/** Own spend by day, and by session, model or client. */
export function OwnUsage({ overview, search, change }: OwnUsageProps) {
  const { by = "session" } = search;
  const { groups, time_zone } = overview;
  const days = { ...overview.days, time_zone };
  const data = singleSeries({ result: days, measure: "cost_usd", unit: "USD" });
  return (
    <>
      {days.rows.length === 0 ? (
        <Panel title="My calls">
          <Empty title="No calls in this range">Connect an agent below, or choose a longer range.</Empty>
        </Panel>
      ) : (
        <>
          <ChartPanel
            {...{ as: Bars, title: "Spend by day", data, label: () => "spend" }}
            sub={`${windowWords(days)}, in days of ${time_zone}.`}
          />
          <Panel
            title={`My calls by ${dimensionWord(by).toLowerCase()}`}
            aside={
              <SegmentedControl
                size="xs"
                aria-label="Group by"
                value={by}
                onChange={(value) => change({ by: oneNameOf(OWN_GROUPS, value) })}
                data={OWN_GROUPS.map((value) => ({ value, label: dimensionWord(value) }))}
              />
            }
          >
            <Groups result={groups} />
          </Panel>
        </>
      )}
    </>
  );
}

// For the order alone.
const costOf = ({ current }: Row): number => Number(current?.cost_usd ?? 0);

const Groups = ({ result }: { result: Result }) =>
  result.spec.dimensions[0] === "session" ? (
    <DataTable
      label="My sessions"
      columns={SESSION_COLUMNS}
      rows={result.rows.toSorted((a, b) => costOf(b) - costOf(a))}
      rowKey={["groups"]}
    />
  ) : (
    <ReportTable result={result} title="My calls" units={UNITS} />
  );

const SESSION_COLUMNS: Columns<Row> = {
  session: cell("Session", ({ groups: [session = null] }) => (
    <SessionLink session={session === "(none)" ? null : session} />
  )),
  cost: money(
    "Cost",
    ({ current }) => current?.cost_usd,
    ({ floor }) => ({ floor }),
  ),
  calls: number("Calls", ({ current }) => current?.requests ?? 0),
};
