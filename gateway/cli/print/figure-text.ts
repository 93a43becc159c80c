import { type Figures, MEASURE_MEANING, type MeasureName, type Row, type Unit } from "#shared/report.ts";

/** One figure of a group. Unknown differs from 0; "≥" marks a lower bound of cost. */
export function cellText(row: Row, name: MeasureName): string {
  const unit = MEASURE_MEANING[name][0];
  const value = figureOf(row.current, name);
  if (value === null) return "–";
  const isBound = row.floor && unit === "USD" && name !== "cost_decomposition";
  return `${isBound ? "≥ " : ""}${figureText(value, unit)}`;
}

/** How much it changed since the previous period. */
export function changeText(row: Row, name: MeasureName): string {
  const delta = figureOf(row.delta, name);
  return delta === null ? "–" : signedText(delta, MEASURE_MEANING[name][0]);
}

export const signedText = (value: number, unit: Unit): string =>
  `${value > 0 ? "+" : ""}${figureText(value, unit)}`;

const figureOf = (figures: Figures | null, name: MeasureName): number | null => figures?.[name] ?? null;

const number = (value: number, digits: number, digitsMin = 0): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digitsMin, maximumFractionDigits: digits });

/** Money is without its unit, which its title names. */
const IN_UNIT = {
  USD: (value) => {
    const isTiny = value !== 0 && Math.abs(value) < 0.000001;
    if (isTiny) return value.toLocaleString("en-US", { maximumSignificantDigits: 2 });
    return number(value, Math.abs(value) >= 1 || value === 0 ? 2 : 6, 2);
  },
  count: (value) => number(value, 1),
  tokens: (value) => number(value, 1),
  ms: (value) => (Math.abs(value) < 1000 ? `${number(value, 0)} ms` : `${number(value / 1000, 1)} s`),
  hours: (value) => `${number(value, 1)} h`,
  fraction: (value) => `${number(value * 100, 1, 1)} %`,
} as const satisfies Record<Unit, (value: number) => string>;

const figureText = (value: number, unit: Unit): string => IN_UNIT[unit](value);
