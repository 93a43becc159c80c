import type { Decomposition } from "#shared/report.ts";
import { usd } from "../format.ts";
import { ticksTo } from "./scale.ts";
import { useWidth } from "./use-width.ts";
import { stepsOf, type WaterfallStep } from "./waterfall-steps.ts";

type WaterfallProps = { parts: Decomposition; before: string; now: string };

const HEIGHT = 196;
const TOP = 22;
const BOTTOM = 28;
/** Room for the label of each of eight bars. */
const WIDTH_MIN = 760;

/** From the cost before to the cost now, a bar for each cause: side by side, or below each other where room is little. */
export function Waterfall({ parts, before, now }: WaterfallProps) {
  const { ref, width } = useWidth();
  const steps = stepsOf(parts, before, now);
  const top = ticksTo(Math.max(...steps.flatMap(({ from, to }) => [from, to]))).at(-1) ?? 1;
  return (
    <section className="chart" ref={ref} aria-label="Causes">
      {width > 0 && width < WIDTH_MIN && <Rows steps={steps} top={top} />}
      {width >= WIDTH_MIN && (
        <Columns
          steps={steps}
          top={top}
          width={width}
          title={`From ${usd(parts.previousUsd)} (${before}) to ${usd(parts.currentUsd)} (${now})`}
        />
      )}
    </section>
  );
}

const Rows = ({ steps, top }: { steps: readonly WaterfallStep[]; top: number }) =>
  steps.map(({ label, from, to, kind, text }) => (
    <div className="bar-row" key={label}>
      <span>{label}</span>
      <span className="number waterfall-amount">{text}</span>
      <div className="track">
        <div
          className={`fill ${kind}`}
          style={{
            marginLeft: `${(Math.max(Math.min(from, to), 0) / top) * 100}%`,
            width: `max(2px, ${(Math.abs(to - from) / top) * 100}%)`,
          }}
        />
      </div>
    </div>
  ));

type ColumnsProps = { steps: readonly WaterfallStep[]; top: number; width: number; title: string };

function Columns({ steps, top, width, title }: ColumnsProps) {
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.max(value, 0) / top);
  const slot = width / steps.length;
  return (
    <svg style={{ width }} height={HEIGHT} role="img" aria-label={title}>
      <line className="grid-line" x1={0} x2={width} y1={y(0)} y2={y(0)} />
      {steps.map((step, i) => (
        <Bar key={step.label} step={step} x={i * slot} slot={slot} y={y} isLast={i === steps.length - 1} />
      ))}
    </svg>
  );
}

type BarProps = {
  step: WaterfallStep;
  x: number;
  slot: number;
  y: (value: number) => number;
  isLast: boolean;
};

function Bar({ step: { label, from, to, kind, text }, x, slot, y, isLast }: BarProps) {
  const width = Math.min(72, slot * 0.62);
  const left = x + (slot - width) / 2;
  const [high, low] = [Math.min(y(from), y(to)), Math.max(y(from), y(to))];
  return (
    <g>
      <rect className={kind} x={left} y={high} width={width} height={Math.max(low - high, 1)} rx={2} />
      {!isLast && <line className="connector" x1={left + width} x2={left + slot} y1={y(to)} y2={y(to)} />}
      <text className="value" x={x + slot / 2} y={high - 6} textAnchor="middle">
        {text}
      </text>
      <text className="axis" x={x + slot / 2} y={HEIGHT - 8} textAnchor="middle">
        {label}
      </text>
    </g>
  );
}
