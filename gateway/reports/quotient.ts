import type { Exact } from "#shared/decimal.ts";

/** `a` × `times` ÷ `b`; null where `b` is 0. */
export function ratio(a: Exact | null, b: Exact | null, times = 1n): Exact | null {
  if (!a || !b || b.num === 0n) return null;
  const sign = b.num < 0n ? -times : times;
  const den = b.num < 0n ? -b.num : b.num;
  // Sums of money have the same decimals, and without them most are short enough to be divided as doubles.
  return a.den === b.den ? { num: sign * a.num, den } : { num: sign * a.num * b.den, den: a.den * den };
}

/** Bits of the quotient that are kept: over the 53 of a double, so that what is cut off only breaks ties. */
const QUOTIENT_BITS = 66;

/** The double nearest to the value. */
export function toNumber(value: Exact): number;
export function toNumber(value: Exact | null): number | null;
export function toNumber(value: Exact | null): number | null {
  if (!value) return null;
  const { num, den } = value;
  const magnitude = num < 0n ? -num : num;
  // Of two doubles that are exact the quotient is the nearest double.
  if (magnitude <= MAX_SAFE && isDouble(den)) return Number(num) / Number(den);
  const shift = BigInt(Math.max(0, QUOTIENT_BITS - leastBits(magnitude) + mostBits(den)));
  const shifted = magnitude << shift;
  // The last bit represents everything below it: exactly half-way, or a little over.
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
