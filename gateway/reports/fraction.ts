/**
 * An exact number, `num / den`, with `den` over 0. Figures stay exact until they leave as JSON numbers, so that money
 * is never added, subtracted or divided as a float. Null is unknown or undefined, and makes what it touches null.
 */
export type Fraction = { num: bigint; den: bigint };

export const ZERO: Fraction = Object.freeze({ num: 0n, den: 1n });

/** Most figures are counts, which need no taking apart. */
const COUNT = /^\d+$/;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/;

/**
 * The value of a decimal as Postgres prints it (`12`, `-0.50`, `1e-07`).
 * @throws RangeError for anything else, `NaN` and `Infinity` included.
 */
export function fractionOf(decimal: string): Fraction {
  if (COUNT.test(decimal)) return { num: BigInt(decimal), den: 1n };
  const [, sign, whole, decimals = "", exponent = "0"] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined) throw new RangeError("not a decimal number");
  const digits = BigInt(`${sign}${whole}${decimals}`);
  const scale = Number(exponent) - decimals.length;
  return scale < 0 ? { num: digits, den: powerOf10(-scale) } : { num: digits * powerOf10(scale), den: 1n };
}

/** Those of money and its ratios. */
const POWERS_OF_10: readonly bigint[] = Array.from({ length: 32 }, (_, i) => 10n ** BigInt(i));
const powerOf10 = (exponent: number): bigint => POWERS_OF_10[exponent] ?? 10n ** BigInt(exponent);

export function minus(a: Fraction | null, b: Fraction | null): Fraction | null {
  if (!a || !b) return null;
  if (a.den === b.den) return { num: a.num - b.num, den: a.den };
  return { num: a.num * b.den - b.num * a.den, den: a.den * b.den };
}

/** `a` × `times` ÷ `b`; null where `b` is 0. */
export function ratio(a: Fraction | null, b: Fraction | null, times = 1n): Fraction | null {
  if (!a || !b || b.num === 0n) return null;
  const sign = b.num < 0n ? -times : times;
  const den = b.num < 0n ? -b.num : b.num;
  // Sums of money have the same decimals, and without them most are short enough to be divided as doubles.
  return a.den === b.den ? { num: sign * a.num, den } : { num: sign * a.num * b.den, den: a.den * den };
}

/** Bits of the quotient that are kept: over the 53 of a double, so that what is cut off only breaks ties. */
const QUOTIENT_BITS = 66;

/** The double nearest to the fraction. */
export function toNumber(fraction: Fraction): number;
export function toNumber(fraction: Fraction | null): number | null;
export function toNumber(fraction: Fraction | null): number | null {
  if (!fraction) return null;
  const { num, den } = fraction;
  const magnitude = num < 0n ? -num : num;
  // Of two doubles that are exact the quotient is the nearest double.
  if (magnitude <= MAX_SAFE && isDouble(den)) return Number(num) / Number(den);
  const shift = BigInt(Math.max(0, QUOTIENT_BITS - leastBits(magnitude) + mostBits(den)));
  const shifted = magnitude << shift;
  // The last bit stands for everything below it: exactly half-way, or a little over.
  const quotient = (shifted / den) | (shifted % den === 0n ? 0n : 1n);
  const number = Number(quotient) * 2 ** -Number(shift);
  return num < 0n ? -number : number;
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const DOUBLES_END = 2n ** 1000n;
/** 10^22, too, is one. */
const isDouble = (value: bigint): boolean =>
  value <= MAX_SAFE || (value < DOUBLES_END && BigInt(Number(value)) === value);

const mostBits = (value: bigint): number => value.toString(16).length * 4;
const leastBits = (value: bigint): number => mostBits(value) - 3;
