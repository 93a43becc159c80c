import { type ChartData, type ChartProps, gapless, totalAt } from "./data.ts";
import { type Drawing, Plot } from "./plot.tsx";
import { ticksTo } from "./scale.ts";

/** Bars from zero; several series are stacked. The period before is a pale shadow behind them. */
export function Bars(chart: ChartProps) {
  const { data } = chart;
  const totals = data.groups.map((_, i) => totalAt(data, i));
  const most = Math.max(0, ...totals, ...(data.previous ?? []).map((value) => value ?? 0));
  return (
    <Plot {...chart} ticks={ticksTo(most)}>
      {(drawing) => (
        <>
          <PreviousShadow data={data} drawing={drawing} />
          <Stacks data={data} drawing={drawing} />
          <path d={hatchPath(totals, data, drawing)} fill={`url(#${drawing.hatch})`} />
        </>
      )}
    </Plot>
  );
}

/** One path for each series, however many bars it has: a chart of 90 days and 10 series is 10 elements. */
function Stacks({ data, drawing }: { data: ChartData; drawing: Drawing }) {
  const bases = data.groups.map(() => 0);
  return (
    <>
      {data.series.map(({ name, color, values }) => {
        const path = values
          .map((value, i) => {
            if (!value || value < 0) return "";
            const base = bases[i] ?? 0;
            bases[i] = base + value;
            return bar(drawing, { i, base, top: base + value });
          })
          .join("");
        return <path key={name} d={path} fill={color} />;
      })}
    </>
  );
}

type Bar = { i: number; base: number; top: number };

/** Gaps between bars narrow with the bars. */
function bar({ frame, y, step }: Drawing, { i, base, top }: Bar): string {
  const gap = Math.min(4, step * 0.18);
  const x = frame.left + i * step + gap / 2;
  return `M${x.toFixed(1)} ${y(base).toFixed(1)}V${y(top).toFixed(1)}h${(step - gap).toFixed(1)}V${y(base).toFixed(1)}Z`;
}

const hatchPath = (totals: readonly number[], { incomplete }: ChartData, drawing: Drawing): string =>
  totals.map((top, i) => (incomplete[i] && top > 0 ? bar(drawing, { i, base: 0, top }) : "")).join("");

function PreviousShadow({ data: { previous }, drawing }: { data: ChartData; drawing: Drawing }) {
  const { frame, y, step } = drawing;
  const x = (place: number) => (frame.left + (place + 0.5) * step).toFixed(1);
  return gapless(previous ?? []).map((run) => {
    const [{ place: first } = { place: 0 }] = run;
    const line = run.map(({ place, value }) => `${x(place)} ${y(value).toFixed(1)}`).join("L");
    const area = `M${x(first)} ${y(0)}L${line}L${x(run.at(-1)?.place ?? first)} ${y(0)}Z`;
    return (
      <g key={first}>
        <path className="shadow" d={area} stroke="none" style={{ strokeWidth: 0 }} />
        <path className="shadow" d={`M${line}`} style={{ fill: "none" }} />
      </g>
    );
  });
}
