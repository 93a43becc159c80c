/** Twice the budget and more fill the bar. */
const SHARE_MAX = 2;

/**
 * The parts of a bar in per cent of its width: what is used within the budget, what is used over it, and where the budget
 * ends. `most`: the largest share of the bars that stand together, so that they can be compared.
 */
export function budgetBar(share: number, most: number): { used: number; over: number; mark: number | null } {
  const scale = 100 / Math.min(Math.max(most, 1), SHARE_MAX);
  const shown = Math.min(share, SHARE_MAX);
  return {
    used: Math.min(shown, 1) * scale,
    over: Math.max(shown - 1, 0) * scale,
    mark: scale < 100 ? scale : null,
  };
}

/** How much of a budget is used; what goes over it has a colour of its own, behind a mark. */
export function BudgetBar({ share, most = share }: { share: number; most?: number }) {
  const { used, over, mark } = budgetBar(share, most);
  return (
    <div className="track budget">
      <div className="fill" style={{ width: `${used}%` }} />
      {over > 0 && <div className="fill over" style={{ width: `${over}%` }} />}
      {mark !== null && <div className="mark" style={{ left: `${mark}%` }} />}
    </div>
  );
}
