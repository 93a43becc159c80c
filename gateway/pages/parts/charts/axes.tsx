import type { DimensionName, Unit } from "#shared/report.ts";
import { timeGroup } from "../dates.ts";
import { plainName } from "../foreign.tsx";
import { onAxis } from "../format.ts";
import { labelEvery } from "./scale.ts";

/** Where a chart draws: `left` leaves room for the axis. */
export type Frame = { left: number; top: number; width: number; height: number };

type ValueAxisProps = { ticks: readonly number[]; y: (value: number) => number; unit: Unit; frame: Frame };

export const ValueAxis = ({ ticks, y, unit, frame }: ValueAxisProps) => (
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

export function GroupAxis({ dimension, groups, frame }: GroupAxisProps) {
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
