import type { ChartData, ChartProps } from "./data.ts";
import { type Drawing, Plot } from "./plot.tsx";
import { ticksBetween } from "./scale.ts";

/** Thin lines; a place without a figure is a gap, not a zero. */
export function Lines(chart: ChartProps) {
  const { data } = chart;
  const all = [...data.series.flatMap(({ values }) => values), ...(data.previous ?? [])];
  const known = all.filter((value): value is number => value !== null);
  const ticks = ticksBetween(Math.min(0, ...known), Math.max(0, ...known));
  return (
    <Plot {...chart} ticks={ticks}>
      {(drawing) => (
        <>
          {data.previous && (
            <path
              className="series-line previous"
              d={linePath(data.previous, drawing)}
              stroke="var(--previous)"
            />
          )}
          {data.series.map(({ name, color, values }) => (
            <path key={name} className="series-line" d={linePath(values, drawing)} stroke={color} />
          ))}
          <Dots data={data} drawing={drawing} />
        </>
      )}
    </Plot>
  );
}

function linePath(values: readonly (number | null)[], { frame, y, step }: Drawing): string {
  let isOpen = false;
  return values
    .map((value, i) => {
      if (value === null) {
        isOpen = false;
        return "";
      }
      const command = isOpen ? "L" : "M";
      isOpen = true;
      return `${command}${(frame.left + (i + 0.5) * step).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join("");
}

/** The last, incomplete place is an open dot. A value between two gaps is a dot, since it has no line. */
const Dots = ({ data, drawing: { frame, y, step } }: { data: ChartData; drawing: Drawing }) => (
  <>
    {data.series.flatMap(({ name, color, values }) =>
      values.flatMap((value, i) => {
        const isAlone = (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null;
        if (value === null || !(isAlone || data.incomplete[i])) return [];
        const x = frame.left + (i + 0.5) * step;
        const fill = data.incomplete[i] ? "var(--panel)" : color;
        return [
          <circle key={`${name} ${data.groups[i]}`} cx={x} cy={y(value)} r="3" fill={fill} stroke={color} />,
        ];
      }),
    )}
  </>
);
