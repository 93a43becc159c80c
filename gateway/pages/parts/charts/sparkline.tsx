import { gapless } from "./data.ts";

const WIDTH = 80;
const HEIGHT = 26;

/** A trend beside a figure; the figure itself says what it is. */
export function Sparkline({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value): value is number => value !== null);
  if (known.length < 2) return null;
  const low = Math.min(...known);
  const size = Math.max(...known) - low || 1;
  const point = ({ place, value }: { place: number; value: number }) => {
    const x = (place / (values.length - 1)) * WIDTH;
    return `${x.toFixed(1)} ${(HEIGHT - 2 - ((value - low) / size) * (HEIGHT - 4)).toFixed(1)}`;
  };
  // A figure between two gaps is a line of no length, which round ends make a dot.
  const lines = gapless(values).map((run) => `M${[...run, ...run.slice(-1)].map(point).join("L")}`);
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={lines.join("")} strokeLinecap="round" />
    </svg>
  );
}
