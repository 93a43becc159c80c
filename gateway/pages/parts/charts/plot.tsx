import { type MouseEvent, type ReactNode, useId, useState } from "react";
import type { DimensionName, Unit } from "#shared/report.ts";
import { longTimeGroup, timeGroup } from "../dates.ts";
import { inUnit, onAxis, UNKNOWN } from "../format.ts";
import { plainName } from "../values.tsx";
import { type ChartProps, totalAt } from "./data.ts";
import { labelEvery } from "./scale.ts";
import { useWidth } from "./use-width.ts";

export type Drawing = { frame: Frame; y: (value: number) => number; step: number; hatch: string };

type PlotProps = ChartProps & { ticks: readonly number[]; children: (drawing: Drawing) => ReactNode };

const LEFT = 52;
const BOTTOM = 26;
const TOP = 8;
const HEIGHT = 240;

/** Axes, cursor and tooltip around what a chart draws. */
export function Plot({ data, ticks, title, label, choose, children }: PlotProps) {
  const { ref, width } = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const hatch = useId();
  const frame = { left: LEFT, top: TOP, width: Math.max(width - LEFT, 0), height: HEIGHT - TOP - BOTTOM };
  const step = frame.width / Math.max(data.groups.length, 1);
  const [low = 0] = ticks;
  const high = ticks.at(-1) ?? 1;
  const y = (value: number) => TOP + frame.height * (1 - (value - low) / (high - low || 1));
  const placeOf = (event: MouseEvent<SVGSVGElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT;
    const place = Math.floor(x / step);
    return x >= 0 && place < data.groups.length ? place : null;
  };
  const pick = (event: MouseEvent<SVGSVGElement>) => {
    const group = data.groups[placeOf(event) ?? -1];
    if (group !== undefined) choose?.(group);
  };
  return (
    <div className="chart" ref={ref} style={{ height: HEIGHT }}>
      {width > 0 && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the table of the same figures has links for the keyboard.
        <svg
          height={HEIGHT}
          role="img"
          aria-label={title}
          onMouseMove={(event) => setAt(placeOf(event))}
          onMouseLeave={() => setAt(null)}
          onClick={pick}
          style={{ cursor: choose ? "pointer" : "default" }}
        >
          <Hatch id={hatch} />
          <ValueAxis ticks={ticks} y={y} unit={data.unit} frame={frame} />
          {at !== null && (
            <rect className="cursor" x={LEFT + at * step} y={TOP} width={step} height={frame.height} />
          )}
          {children({ frame, y, step, hatch })}
          <GroupAxis dimension={data.dimension} groups={data.groups} frame={frame} />
        </svg>
      )}
      {at !== null && <Tip data={data} at={at} left={LEFT + (at + 0.5) * step} width={width} label={label} />}
    </div>
  );
}

/** Over what is not complete. */
const Hatch = ({ id }: { id: string }) => (
  <defs>
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="3" height="6" fill="var(--panel)" fillOpacity="0.65" />
    </pattern>
  </defs>
);

/** Where a chart draws: `left` leaves room for the axis. */
type Frame = { left: number; top: number; width: number; height: number };

type ValueAxisProps = { ticks: readonly number[]; y: (value: number) => number; unit: Unit; frame: Frame };

const ValueAxis = ({ ticks, y, unit, frame }: ValueAxisProps) => (
  <g>
    {ticks.map((tick) => (
      <g key={tick}>
        <line className="grid-line" x1={frame.left} x2={frame.left + frame.width} y1={y(tick)} y2={y(tick)} />
        <text className="axis" x={frame.left - 8} y={y(tick) + 4} textAnchor="end">
          {onAxis(unit, tick)}
        </text>
      </g>
    ))}
  </g>
);

type GroupAxisProps = { dimension: DimensionName; groups: readonly string[]; frame: Frame };

const LABEL_WIDTH = 58;
const LABEL_CHARACTERS = 14;

function GroupAxis({ dimension, groups, frame }: GroupAxisProps) {
  const step = frame.width / Math.max(groups.length, 1);
  const every = labelEvery(groups.length, frame.width, LABEL_WIDTH);
  const short = (text: string) =>
    text.length > LABEL_CHARACTERS ? `${text.slice(0, LABEL_CHARACTERS - 1)}…` : text;
  return (
    <g>
      {groups.map((group, i) =>
        i % every === 0 ? (
          <text
            key={group}
            className="axis"
            x={frame.left + (i + 0.5) * step}
            y={frame.top + frame.height + 18}
            textAnchor="middle"
          >
            {short(plainName(timeGroup(dimension, group)))}
          </text>
        ) : null,
      )}
    </g>
  );
}

type TipProps = Pick<ChartProps, "data" | "label"> & { at: number; left: number; width: number };

/** All series of one place, the largest first. */
function Tip({ data, at, left, width, label }: TipProps) {
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
          <span>Total</span>
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
