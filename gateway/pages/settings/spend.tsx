import type { ReactNode } from "react";
import type { Spend, SpendBy } from "#shared/admin/spend.ts";
import { queryOf, useJson } from "../data/api.ts";
import { type Columns, cell, figure } from "../parts/columns.tsx";
import { Moment, Money } from "../parts/values.tsx";

/** What a list's rows cost this month: by what, and the name of a row there. */
export type SpendFacts<View> = { by: SpendBy; nameOf: (view: View) => string };

/** Columns with the cost of the month and the latest use of each row; none without `facts`. */
export function useSpendColumns<View>(facts: SpendFacts<View> | undefined): Columns<View> {
  const { data } = useJson<Spend>(["spend", facts?.by], `/admin/v1/spend${queryOf({ by: facts?.by })}`, {
    enabled: facts !== undefined,
    refetchInterval: 60_000,
  });
  if (!facts) return {};
  const byName = new Map(data?.data.map((row) => [row.name, row]));
  const of = (view: View) => byName.get(facts.nameOf(view));
  const last = (view: View) => of(view)?.last_used_at ?? null;
  const known = (shown: ReactNode) => (data ? shown : <span className="mute">…</span>);
  return {
    month: figure(
      "This month",
      (view) => known(<Money value={of(view)?.cost_usd ?? "0"} floor={of(view)?.floor ?? false} />),
      (view) => Number(of(view)?.cost_usd ?? 0),
    ),
    used: cell(
      "Last used",
      (view) => known(<Moment at={last(view)} unknown="No call in the last 30 days." />),
      last,
    ),
  };
}
