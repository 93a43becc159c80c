import type { BudgetView } from "#shared/admin/budgets.ts";
import { BudgetBar } from "./budget-bar.tsx";
import { utcDay } from "./dates.ts";
import { percent } from "./format.ts";
import { Foreign, Money } from "./values.tsx";

/** The part that is used: for bars, the order and rounded shares only; amounts are shown as they are. */
export const shareOf = ({ budget_usd: usd, used_usd: used }: BudgetView): number =>
  Number(usd) > 0 ? Number(used) / Number(usd) : 1;

const whose = ({ kind, owner, on }: BudgetView): string =>
  ({
    budget: on.id === null ? "the organisation" : `${on.kind} ${on.id}`,
    team: "team",
    person: "person",
    own_keys: "the person's own keys together",
    key: owner === null ? "key of a service account" : `key of ${owner}`,
  })[kind];

/** Budgets with what is used of them, in bars that can be compared. `renews`: also shows the day on which each one renews. */
export function BudgetRows({
  budgets,
  renews = false,
}: {
  budgets: readonly BudgetView[];
  renews?: boolean;
}) {
  const most = Math.max(...budgets.map(shareOf));
  return budgets.map((budget) => (
    <BudgetRow
      key={`${budget.kind} ${budget.name} ${budget.budget_usd} ${budget.period}`}
      {...{ budget, most, renews }}
    />
  ));
}

function BudgetRow({ budget, most, renews }: { budget: BudgetView; most: number; renews: boolean }) {
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
          {renews && `; it renews on ${utcDay(Date.parse(to))} (UTC)`}
        </small>
      </div>
      <span className="number">
        <Money value={used} /> <span className="mute">of</span> <Money value={usd} />
      </span>
      <span className={`number small ${isOver ? "bad" : budget.at_risk ? "warn" : "mute"}`}>
        {percent(share)}
      </span>
      <BudgetBar share={share} most={most} />
    </div>
  );
}
