import { longTimeGroup } from "../dates.ts";
import { plainName } from "../foreign.tsx";
import { inUnit, UNKNOWN } from "../format.ts";
import { type ChartData, totalAt } from "./data.ts";

type TipProps = {
  data: ChartData;
  at: number;
  left: number;
  width: number;
  label: (name: string | null) => string;
};

/** All series of one place, the largest first. */
export function Tip({ data, at, left, width, label }: TipProps) {
  const group = data.groups[at] ?? "";
  const shown = data.series
    .map(({ name, color, values }) => ({ name, color, value: values[at] ?? null }))
    .filter(({ value }) => value !== null && value !== 0)
    .toSorted((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const isRight = left > width / 2;
  const place = isRight ? { right: width - left + 12 } : { left: left + 12 };
  const before = data.previous?.[at];
  return (
    <div className="chart-tip" style={place} aria-hidden="true">
      <b>
        {plainName(longTimeGroup(data.dimension, group))}
        {data.incomplete[at] && <span className="mute"> · not over</span>}
      </b>
      {shown.map(({ name, color, value }) => (
        <div key={name}>
          <span className="swatch" style={{ background: color }} />
          <span className="cut">{label(name)}</span>
          <span>{inUnit(data.unit, value ?? 0)}</span>
        </div>
      ))}
      {data.series.length > 1 && (
        <div>
          <span>Together</span>
          <span>{inUnit(data.unit, totalAt(data, at))}</span>
        </div>
      )}
      {data.previous && (
        <div className="mute">
          <span>Period before</span>
          <span>{typeof before === "number" ? inUnit(data.unit, before) : UNKNOWN}</span>
        </div>
      )}
    </div>
  );
}
