import { type MouseEvent, type ReactNode, useId, useState } from "react";
import { type Frame, GroupAxis, ValueAxis } from "./axes.tsx";
import type { ChartData } from "./data.ts";
import { Tip } from "./tip.tsx";
import { useWidth } from "./use-width.ts";

export type Drawing = { frame: Frame; y: (value: number) => number; step: number; hatch: string };

type PlotProps = {
  data: ChartData;
  ticks: readonly number[];
  /** What the picture shows, for those who do not see it. */
  title: string;
  height: number;
  label: (name: string | null) => string;
  choose?: ((group: string) => void) | undefined;
  children: (drawing: Drawing) => ReactNode;
};

const LEFT = 52;
const BOTTOM = 26;
const TOP = 8;

/** Axes, cursor and tooltip around what a chart draws. */
export function Plot({ data, ticks, title, height, label, choose, children }: PlotProps) {
  const { ref, width } = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const hatch = useId();
  const frame = { left: LEFT, top: TOP, width: Math.max(width - LEFT, 0), height: height - TOP - BOTTOM };
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
    <div className="chart" ref={ref} style={{ height }}>
      {width > 0 && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the table of the same figures has links for the keyboard.
        <svg
          height={height}
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
