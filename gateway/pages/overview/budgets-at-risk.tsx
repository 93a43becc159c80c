import type { Budgets } from "#shared/admin/budgets.ts";
import { useJson } from "../data/use-json.ts";
import { BudgetRows } from "../parts/budget-rows.tsx";
import { Panel } from "../parts/page-head.tsx";

const SHOWN_MAX = 6;

/** Budgets that are nearly used up, or will be at this pace. Nothing if there are none. */
export function BudgetsAtRisk() {
  const { data } = useJson<Budgets>(["budgets", "at-risk"], "/admin/v1/budgets?at_risk=true", {
    refetchInterval: 60_000,
  });
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
