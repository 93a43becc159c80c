import type { Decomposition } from "#shared/report.ts";
import { signed, usd, wholeUsd } from "../format.ts";
import { causesOf } from "./causes.ts";
import { ticksTo } from "./scale.ts";
import { useWidth } from "./use-width.ts";

type WaterfallProps = { parts: Decomposition; before: string; now: string };
type Step = {
  label: string;
  from: number;
  to: number;
  kind: "total" | "more-cost" | "less-cost";
  text: string;
};

const HEIGHT = 196;
const TOP = 22;
const BOTTOM = 28;
const WIDTH_MIN = 560;
/** A cause that changed the cost by less has no bar. */
const SHARE_SHOWN = 0.001;

/** From the cost before to the cost now, a bar for each cause. */
export function Waterfall({ parts, before, now }: WaterfallProps) {
  const { ref, width: room } = useWidth();
  const width = Math.max(room, WIDTH_MIN);
  const steps = stepsOf(parts, before, now);
  const top = ticksTo(Math.max(...steps.flatMap(({ from, to }) => [from, to]))).at(-1) ?? 1;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.max(value, 0) / top);
  const slot = width / steps.length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section className="chart" ref={ref} style={{ overflowX: "auto" }} tabIndex={0} aria-label="Causes">
      <svg
        style={{ width }}
        height={HEIGHT}
        role="img"
        aria-label={`From ${usd(parts.previousUsd)} (${before}) to ${usd(parts.currentUsd)} (${now})`}
      >
        <line className="grid-line" x1={0} x2={width} y1={y(0)} y2={y(0)} />
        {steps.map((step, i) => (
          <Bar key={step.label} step={step} x={i * slot} slot={slot} y={y} isLast={i === steps.length - 1} />
        ))}
      </svg>
    </section>
  );
}

type BarProps = { step: Step; x: number; slot: number; y: (value: number) => number; isLast: boolean };

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

function stepsOf(parts: Decomposition, before: string, now: string): Step[] {
  const steps: Step[] = [
    { label: before, from: 0, to: parts.previousUsd, kind: "total", text: wholeUsd(parts.previousUsd) },
  ];
  let at = parts.previousUsd;
  const least = Math.max(parts.previousUsd, parts.currentUsd) * SHARE_SHOWN;
  for (const { label, usd: change } of causesOf(parts).filter(({ usd: it }) => Math.abs(it) > least)) {
    const kind = change > 0 ? "more-cost" : "less-cost";
    steps.push({ label, from: at, to: at + change, kind, text: signed(wholeUsd(change), change) });
    at += change;
  }
  const last = { label: now, from: 0, to: parts.currentUsd, kind: "total" as const };
  return [...steps, { ...last, text: wholeUsd(parts.currentUsd) }];
}
