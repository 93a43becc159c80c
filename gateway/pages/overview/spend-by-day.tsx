import type { QueryAnswer } from "#shared/report-query.ts";
import type { FrameSearch } from "../data/search.ts";
import { Bars } from "../parts/charts/bars.tsx";
import { ChartPanel } from "../parts/charts/chart.tsx";
import { type ChartData, singleSeries, stackedSeries, withOthers } from "../parts/charts/data.ts";
import { narrowed } from "../parts/chips.tsx";
import { plainName } from "../parts/values.tsx";
import { previousWords } from "../parts/window-words.ts";

type SpendByDayProps = {
  days: QueryAnswer;
  /** Spend by the costliest models; null without any. */
  stacked: QueryAnswer | null;
  search: FrameSearch;
  change: (change: FrameSearch) => void;
};

const label = (name: string | null): string =>
  name === null ? "others" : name === "cost_usd" ? "all models" : plainName(name);

export function SpendByDay({ days, stacked, search, change }: SpendByDayProps) {
  const data = dataOf(days, stacked);
  const incomplete = data.incomplete.some((is) => is) ? " Today is not over." : "";
  const compared = data.previous ? ` The dashed line is ${previousWords(days)}.` : "";
  return (
    <ChartPanel
      as={Bars}
      title="Spend by day"
      picture="Spend by day, stacked by model"
      sub={`Stacked by model, in days of ${days.time_zone}.${compared}${incomplete} Click a day or a model to see it alone.`}
      data={data}
      label={label}
      choose={(day) => change({ day: [day] })}
      chooseSeries={(name) => name !== null && name !== "cost_usd" && change(narrowed(search, "model", name))}
    />
  );
}

/** The stacks, up to each day's own total, which also has the models that are not drawn one by one. */
function dataOf(days: QueryAnswer, stacked: QueryAnswer | null): ChartData {
  const totals = singleSeries({ result: days, measure: "cost_usd", unit: "USD" });
  if (!stacked) return totals;
  const stacks = stackedSeries({ result: stacked, measure: "cost_usd", unit: "USD" });
  const { groups, incomplete, previous } = totals;
  const sameDays = { ...stacks, groups, incomplete, previous };
  return withOthers(sameDays, totals.series[0]?.values ?? []);
}
