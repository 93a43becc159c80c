import { usd } from "../format.ts";
import { ticksTo } from "./scale.ts";
import { useWidth } from "./use-width.ts";
import type { WaterfallStep } from "./waterfall-steps.ts";

const PLOT = 146;
const TOP = 22;
const LINE = 14;
/** Room for the label of each of eight bars. */
const WIDTH_MIN = 760;

/** From a sum to another one, a bar for each cause: side by side, or below each other where room is little. */
export function Waterfall({ steps }: { steps: readonly WaterfallStep[] }) {
  const { ref, width } = useWidth();
  const [first, last] = [steps[0], steps.at(-1)];
  const top = ticksTo(Math.max(...steps.flatMap(({ from, to }) => [from, to]))).at(-1) ?? 1;
  return (
    <section className="chart" ref={ref} aria-label="Causes">
      {width > 0 && width < WIDTH_MIN && <Rows steps={steps} top={top} />}
      {width >= WIDTH_MIN && (
        <Columns
          steps={steps}
          top={top}
          width={width}
          title={`From ${usd(first?.to ?? 0)} (${first?.label}) to ${usd(last?.to ?? 0)} (${last?.label})`}
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

/** A label as lines of at most so many characters, as far as its words allow. */
function linesOf(label: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of label.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < most) lines.splice(-1, 1, `${last} ${word}`);
    else lines.push(word);
  }
  return lines;
}

const CHARACTER = 6.5;

function Columns({ steps, top, width, title }: ColumnsProps) {
  const y = (value: number) => TOP + PLOT * (1 - Math.max(value, 0) / top);
  const slot = width / steps.length;
  const labels = steps.map(({ label }) => linesOf(label, slot / CHARACTER));
  const height = TOP + PLOT + LINE * (Math.max(...labels.map(({ length }) => length)) + 1);
  return (
    <svg style={{ width }} height={height} role="img" aria-label={title}>
      <line className="grid-line" x1={0} x2={width} y1={y(0)} y2={y(0)} />
      {steps.map((step, i) => (
        <Bar
          key={step.label}
          step={step}
          lines={labels[i] ?? []}
          x={i * slot}
          slot={slot}
          y={y}
          isLast={i === steps.length - 1}
        />
      ))}
    </svg>
  );
}

type BarProps = {
  step: WaterfallStep;
  lines: readonly string[];
  x: number;
  slot: number;
  y: (value: number) => number;
  isLast: boolean;
};

function Bar({ step: { from, to, kind, text }, lines, x, slot, y, isLast }: BarProps) {
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
      <text className="axis" textAnchor="middle">
        {lines.map((line, i) => (
          <tspan key={line} x={x + slot / 2} y={y(0) + LINE * (i + 1) + 4}>
            {line}
          </tspan>
        ))}
      </text>
    </g>
  );
}
