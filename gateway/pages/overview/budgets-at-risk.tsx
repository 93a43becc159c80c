import type { Budgets, BudgetView } from "#shared/admin/budgets.ts";
import { useJson } from "../data/use-json.ts";
import { BudgetBar } from "../parts/budget-bar.tsx";
import { utcDay } from "../parts/dates.ts";
import { Foreign } from "../parts/foreign.tsx";
import { percent } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
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
      {shown.map((budget) => (
        <BudgetRow
          key={`${budget.kind} ${budget.name} ${budget.budget_usd} ${budget.period}`}
          budget={budget}
          most={Math.max(...shown.map(shareOf))}
        />
      ))}
      {more > 0 && <p className="mute small">And {more} more that are less used.</p>}
    </Panel>
  );
}

// For bars and rounded shares only; the amounts are shown as they are.
const shareOf = ({ budget_usd: usd, used_usd: used }: BudgetView): number =>
  Number(usd) > 0 ? Number(used) / Number(usd) : 1;

const whose = ({ kind, owner, on }: BudgetView): string =>
  ({
    budget: on.id === null ? "the organisation" : `${on.kind} ${on.id}`,
    team: "team",
    person: "person",
    own_keys: "the person's own keys together",
    key: owner === null ? "key of a service account" : `key of ${owner}`,
  })[kind];

function BudgetRow({ budget, most }: { budget: BudgetView; most: number }) {
  const { name, budget_usd: usd, used_usd: used, projected_usd: projected, forecast, to } = budget;
  const ahead = forecast?.expected_usd ?? projected;
  const share = shareOf(budget);
  const isOver = share >= 1;
  return (
    <div className="bar-row">
      <div style={{ minWidth: 0 }}>
        <Foreign text={name} />{" "}
        <small className="mute">
          {whose(budget)}
          {isOver
            ? ", used up"
            : ahead !== null && (
                <>
                  , <Money value={ahead} /> by {utcDay(Date.parse(to) - 1)}
                  {forecast ? ", as forecast" : " at this pace"}
                </>
              )}
        </small>
      </div>
      <span className="number">
        <Money value={used} /> <span className="mute">of</span> <Money value={usd} />
      </span>
      <span className={`number small ${isOver ? "bad" : "warn"}`}>{percent(share)}</span>
      <BudgetBar share={share} most={most} />
    </div>
  );
}
