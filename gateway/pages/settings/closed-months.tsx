import { Link } from "@tanstack/react-router";
import type { PeriodView } from "#shared/admin/periods.ts";
import { useJson } from "../data/use-json.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { count } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import { momentColumn, numberColumn, textColumn } from "./cells.tsx";

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
        rowKey={({ month }) => month}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<PeriodView>[] = [
  {
    id: "month",
    head: "Month",
    sort: ({ month }) => month,
    cell: ({ month }) => (
      <Link to="/settings/statements" search={{ month }} className="link">
        {month}
      </Link>
    ),
  },
  textColumn("state", "State", { of: ({ state }) => state }),
  numberColumn("records", "Calls at closing", { of: (it) => count(it.records), by: (it) => it.records }),
  {
    id: "cost",
    head: "Cost at closing",
    isNumber: true,
    cell: ({ cost_usd: usd }) => <Money value={usd} />,
  },
  numberColumn("late", "Late calls", { of: (it) => count(it.late_records), by: (it) => it.late_records }),
  { id: "late-cost", head: "Their cost", isNumber: true, cell: (it) => <Money value={it.late_cost_usd} /> },
  textColumn("actor", "By", { of: ({ actor }) => actor }),
  momentColumn("changed", "Changed", { of: (it) => it.changed_at, none: "" }),
];
