/** Round values from 0 to at least `max`, three to five steps: `[0, 200, 400, 600]`. */
export function ticksTo(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const raw = max / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((it) => it * power).find((it) => it >= raw) ?? raw;
  const steps = Math.ceil(max / step - 1e-9);
  // Steps are multiplied, since adding them up would add up their rounding, too.
  return Array.from({ length: steps + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** The same where values may be below 0. */
export function ticksBetween(min: number, max: number): number[] {
  if (min >= 0) return ticksTo(max);
  const above = ticksTo(Math.max(max, -min));
  const step = (above[1] ?? 1) - (above[0] ?? 0);
  const below = Math.ceil(-min / step);
  return [
    ...Array.from({ length: below }, (_, i) => -(below - i) * step),
    ...above.filter((it) => it < max + step),
  ];
}

/** Every how many groups one gets a label, so that labels of `labelWidth` do not touch. */
export const labelEvery = (groups: number, width: number, labelWidth: number): number =>
  Math.max(1, Math.ceil((groups * labelWidth) / Math.max(width, 1)));
