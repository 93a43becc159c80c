/**
 * An exact number, `num / den`, with `den` over 0: a decimal, or a quotient of decimals. Money and prices are never floats;
 * they stay exact until they leave as text or as JSON numbers.
 */
export type Exact = { readonly num: bigint; readonly den: bigint };

export const ZERO: Exact = Object.freeze({ num: 0n, den: 1n });

/** Most figures are counts, which need no taking apart. */
const COUNT = /^\d+$/;
const FORM = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Parses `0.0025`, `3` or `1e-7`. @throws RangeError for anything else, `NaN` and `Infinity` included. */
export function parseDecimal(text: string): Exact {
  if (COUNT.test(text)) return { num: BigInt(text), den: 1n };
  const [, sign, whole, decimals = "", exponent = "0"] = FORM.exec(text) ?? [];
  if (whole === undefined) throw new RangeError("not a decimal number");
  const digits = BigInt(`${sign}${whole}${decimals}`);
  const scale = decimals.length - Number(exponent);
  return scale > 0 ? { num: digits, den: powerOf10(scale) } : { num: digits * powerOf10(-scale), den: 1n };
}

/** A list price's float as its author's decimal: its shortest representation (0.1, not the nearest fraction). */
export const decimalOfNumber = (value: number): Exact => parseDecimal(String(value));

/** Of two decimals the sum has the finer scale of both. */
export function plus(a: Exact, b: Exact): Exact {
  if (a.den === b.den) return { num: a.num + b.num, den: a.den };
  if (a.den % b.den === 0n) return { num: a.num + b.num * (a.den / b.den), den: a.den };
  if (b.den % a.den === 0n) return { num: a.num * (b.den / a.den) + b.num, den: b.den };
  return { num: a.num * b.den + b.num * a.den, den: a.den * b.den };
}

export const exactSum = (values: readonly Exact[]): Exact => values.reduce(plus, ZERO);

export const difference = (a: Exact, b: Exact): Exact => plus(a, { num: -b.num, den: b.den });

/** @throws RangeError if `count` is not an integer. */
export const times = (value: Exact, count: number): Exact => ({
  num: value.num * BigInt(count),
  den: value.den,
});

export const product = (a: Exact, b: Exact): Exact => ({ num: a.num * b.num, den: a.den * b.den });

const MONEY_PLACES = 24;

/** `a / b` as a decimal of at most 24 places, as money is stored; both are 0 or more, `b` is not 0. */
export function decimalQuotient(a: Exact, b: Exact): Exact {
  const den = powerOf10(MONEY_PLACES);
  const [whole, part] = [a.num * b.den * den, a.den * b.num];
  return { num: (2n * whole + part) / (2n * part), den };
}

/** `value / 10^places`; 6 converts a price per million into a price per token. */
export const shiftDown = (value: Exact, places: number): Exact => ({
  num: value.num,
  den: value.den * powerOf10(places),
});

export const isOver = (a: Exact, b: Exact): boolean => a.num * b.den > b.num * a.den;

export const isZero = (value: Exact): boolean => value.num === 0n;

/** The shortest text of a decimal, such as `0.00125`. @throws RangeError for a quotient that is no decimal */
export function formatDecimal({ num, den }: Exact): string {
  const scale = den.toString().length - 1;
  if (den !== powerOf10(scale)) throw new RangeError("not a decimal number");
  const negative = num < 0n;
  const text = (negative ? -num : num).toString().padStart(scale + 1, "0");
  const whole = text.slice(0, text.length - scale);
  const decimals = text.slice(text.length - scale).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${decimals ? `.${decimals}` : ""}`;
}

/** Those of money and its ratios. */
const POWERS_OF_10: readonly bigint[] = Array.from({ length: 32 }, (_, i) => 10n ** BigInt(i));
const powerOf10 = (exponent: number): bigint => POWERS_OF_10[exponent] ?? 10n ** BigInt(exponent);
