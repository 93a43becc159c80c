import { plural } from "#shared/plural.ts";
import type { Unit } from "#shared/report.ts";

// How figures read. What is unknown is an en dash, never 0.

export const UNKNOWN = "–";
/** Between a number and its unit: narrow, and never broken. */
const GAP = "\u202f";

/** A figure as the API has it: exact decimal text, or a number of a report. */
export type Figure = string | number;

const money = (digits: number) =>
  new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
const WHOLE = money(0);
const CENTS = money(2);
const SMALL = money(4);

/** Intl reads decimal text exactly; a number's own text is its shortest exact form. */
const decimalText = (value: Figure): Intl.StringNumericLiteral =>
  // Intl takes any decimal text; the type lists only literals.
  String(value) as Intl.StringNumericLiteral;

/** Two decimals from $1, four below, as money is compared at these sizes. */
export function usd(value: Figure): string {
  const size = Math.abs(Number(value));
  if (size === 0) return CENTS.format(0);
  if (size < 0.00005) return `< ${SMALL.format(0.0001)}`;
  return (size < 1 ? SMALL : CENTS).format(decimalText(value)).replace("-", "−");
}

/** Every digit, for hovering and copying. */
export function exactUsd(value: Figure): string {
  const text = String(value);
  const plain = /e/i.test(text) ? Number(value).toFixed(18).replace(/0+$/, "") : text;
  return plain.startsWith("-") ? `−$${plain.slice(1)}` : `$${plain}`;
}

const decimalsIn = (value: Figure): number => /\.(\d*[1-9])/.exec(exactUsd(value))?.[1]?.length ?? 0;

/** Decimals that show every digit of each of these amounts, two at least. */
export const decimalsOf = (values: readonly Figure[]): number => Math.max(2, ...values.map(decimalsIn));

/** The same to read: with so many decimals at least, else without zeros at its end. */
export const plainUsd = (value: Figure, decimals = 2): string => {
  const [whole = "", part = ""] = exactUsd(value).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${grouped}.${part.replace(/0+$/, "").padEnd(decimals, "0")}`;
};

const MILLION_ZEROS = 6;

/** What a million cost at a price for one, with every digit: `$2.50` for 0.0000025. */
export function perMillionUsd(each: string): string {
  const [whole = "", fraction = ""] = each.split(".");
  const digits = `${whole}${fraction.padEnd(MILLION_ZEROS, "0")}`;
  const point = whole.length + MILLION_ZEROS;
  return plainUsd(`${BigInt(digits.slice(0, point))}.${digits.slice(point)}`);
}

export const signed = (text: string, value: number): string =>
  value > 0 ? `+${text}` : text.replace("-", "−");

const COUNT = new Intl.NumberFormat();
export const count = (value: Figure): string => COUNT.format(decimalText(value));

/** A count with its words: `1 call`, `1,200 calls`, `1 merge is`, `2 merges are`. */
export const counted = (value: Figure, one: string, many?: string): string =>
  `${count(value)} ${plural(value, one, many)}`;

const STEPS = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "k"],
] as const;
const SHORT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** `1.2 M`, `340 k`. */
function short(value: number): string {
  const [size, unit] = STEPS.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return unit === "" ? SHORT.format(value) : `${SHORT.format(value / size)}${GAP}${unit}`;
}

/** `840 ms`, `1.4 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}${GAP}ms`;
  if (ms < 60_000) return `${SHORT.format(ms / 1000)}${GAP}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${GAP}min ${seconds % 60}${GAP}s`;
  return `${Math.floor(seconds / 3600)}${GAP}h ${Math.floor((seconds % 3600) / 60)}${GAP}min`;
}

const PERCENT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
/** `12.4 %`. What is a little more than nothing, or a little less than all, is not shown as nothing or all. */
export function percent(fraction: number): string {
  const size = Math.abs(fraction);
  if (size > 0 && size < 0.0005) return `< 0.1${GAP}%`;
  if (size >= 0.9995 && size < 1) return `> 99.9${GAP}%`;
  return `${PERCENT.format(fraction * 100)}${GAP}%`;
}

const BY_UNIT = {
  USD: usd,
  tokens: (value) => short(Number(value)),
  count: (value) => COUNT.format(Math.round(Number(value) * 10) / 10),
  ms: (value) => duration(Number(value)),
  hours: (value) => `${SHORT.format(Number(value))}${GAP}h`,
  fraction: (value) => percent(Number(value)),
} as const satisfies Record<Unit, (value: Figure) => string>;

export const inUnit = (unit: Unit, value: Figure): string => BY_UNIT[unit](value);

/** The same with every digit. */
export const exactInUnit = (unit: Unit, value: Figure): string =>
  unit === "USD" ? exactUsd(value) : String(value);

/** On an axis, where little room is. */
export const onAxis = (unit: Unit, value: number): string =>
  unit === "USD" ? axisUsd(value) : inUnit(unit, value);

function axisUsd(value: number): string {
  if (Math.abs(value) >= 10_000) return `$${short(value)}`;
  return Number.isInteger(value) ? WHOLE.format(value) : usd(value);
}
