import { Link } from "@tanstack/react-router";
import type { PeriodView } from "#shared/admin/periods.ts";
import { useJson } from "../data/api.ts";
import { type Columns, cell, moment, money, number, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { calendarDay } from "../parts/dates.ts";
import { Panel } from "../parts/page.tsx";

/** Months that were closed, and what came late. The page Statements closes and reopens them. */
export function ClosedMonths() {
  const { data } = useJson<{ data: PeriodView[] }>(["settings", "periods"], "/admin/v1/periods", {
    refetchInterval: 30_000,
  });
  if (!data || data.data.length === 0) return null;
  return (
    <Panel
      title="Closed months"
      sub="Costs of a closed month change only after it is reopened, on the page Statements. Calls that are stored late are recorded and counted here."
    >
      <DataTable
        label="Months that were closed"
        sortName="months.sort"
        columns={COLUMNS}
        rows={data.data}
        rowKey={["month"]}
      />
    </Panel>
  );
}

const COLUMNS: Columns<PeriodView> = {
  month: cell(
    "Month",
    ({ month }) => (
      <Link to="/settings/statements" search={{ month }} className="row-link nowrap">
        {calendarDay(month)}
      </Link>
    ),
    ({ month }) => month,
  ),
  state: text("State", ({ state }) => state),
  records: number("Calls at closing", (it) => it.records),
  cost: money("Cost at closing", (it) => it.cost_usd),
  late: number("Late calls", (it) => it.late_records),
  "late-cost": money("Their cost", (it) => it.late_cost_usd),
  actor: text("By", ({ actor }) => actor),
  changed: moment("Changed", (it) => it.changed_at),
};
