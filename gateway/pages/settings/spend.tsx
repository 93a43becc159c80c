import type { Spend, SpendBy } from "#shared/admin/spend.ts";
import { queryOf } from "../data/api.ts";
import { useJson } from "../data/use-json.ts";
import type { Column } from "../parts/data-table.tsx";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";

/** What a list's rows cost this month: by what, and the name of a row there. */
export type SpendFacts<View> = { by: SpendBy; nameOf: (view: View) => string };

/** Columns with the cost of the month and the latest use of each row; none without `facts`. */
export function useSpendColumns<View>(facts: SpendFacts<View> | undefined): Column<View>[] {
  const { data } = useJson<Spend>(["spend", facts?.by], `/admin/v1/spend${queryOf({ by: facts?.by })}`, {
    enabled: facts !== undefined,
    refetchInterval: 60_000,
  });
  if (!facts) return [];
  const byName = new Map(data?.data.map((row) => [row.name, row]));
  const of = (view: View) => byName.get(facts.nameOf(view));
  return [
    {
      id: "month",
      head: "This month",
      isNumber: true,
      sort: (view) => Number(of(view)?.cost_usd ?? 0),
      cell: (view) => {
        const { cost_usd: cost = "0", floor = false } = of(view) ?? {};
        return data ? <Money value={cost} floor={floor} /> : <span className="mute">…</span>;
      },
    },
    {
      id: "used",
      head: "Last used",
      sort: (view) => of(view)?.last_used_at ?? null,
      cell: (view) =>
        data ? (
          <Moment at={of(view)?.last_used_at ?? null} unknown="No call in the last 30 days." />
        ) : (
          <span className="mute">…</span>
        ),
    },
  ];
}
