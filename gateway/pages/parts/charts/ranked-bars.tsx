import type { ReactNode } from "react";
import type { DimensionName, MeasureName, Result, Row, Unit } from "#shared/report.ts";
import { Change } from "../change.tsx";
import { longTimeGroup } from "../dates.ts";
import { Measured } from "../values.tsx";
import { directionOf } from "../words.ts";
import { GroupName } from "./chart.tsx";

type RankedBarsProps = {
  result: Result;
  measure: MeasureName;
  unit: Unit;
  shownMax: number;
  choose?: ((value: string) => void) | undefined;
  small?: ((row: Row) => ReactNode) | undefined;
};

/** The largest groups with a bar each; a click narrows to one. */
export function RankedBars({ result, measure, unit, shownMax, choose, small }: RankedBarsProps) {
  const rows = result.rows.filter(({ current }) => current !== null).slice(0, shownMax);
  const most = Math.max(...rows.map(({ current }) => current?.[measure] ?? 0), 0);
  if (rows.length === 0) return <p className="mute">None in this period.</p>;
  const hasSide = result.previousWindow !== null || result.spec.measures.includes("cost_share");
  return rows.map((row) => {
    const value = row.current?.[measure] ?? null;
    const width = most > 0 ? (Math.max(value ?? 0, 0) / most) * 100 : 0;
    return (
      <div className={hasSide ? "bar-row" : "bar-row plain"} key={JSON.stringify(row.groups)}>
        <div style={{ minWidth: 0 }}>
          <Groups row={row} dimensions={result.spec.dimensions} choose={choose} />
          {small && <small className="mute"> {small(row)}</small>}
        </div>
        <span className="number">
          <Measured unit={unit} value={value} floor={row.floor && unit === "USD"} />
        </span>
        {hasSide && (
          <span className="number small">
            {result.previousWindow ? (
              <Change current={value} previous={row.previous?.[measure]} more={directionOf(measure)} />
            ) : (
              <Measured unit="fraction" value={row.current?.cost_share} />
            )}
          </span>
        )}
        <div className="track">
          <div className="fill" style={{ width: `${width}%` }} />
        </div>
      </div>
    );
  });
}

type GroupsProps = { row: Row; dimensions: readonly DimensionName[]; choose: RankedBarsProps["choose"] };

function Groups({ row: { groups }, dimensions, choose }: GroupsProps) {
  const [first = ""] = groups;
  const text = groups.map((group, i) => longTimeGroup(dimensions[i] ?? "client", group)).join(" · ");
  return <GroupName text={text} choose={choose && (() => choose(first))} />;
}
