/** An exact decimal, `digits / 10^scale`. Money and prices are never floats. */
export type Decimal = { readonly digits: bigint; readonly scale: number };

export const DECIMAL_ZERO: Decimal = Object.freeze({ digits: 0n, scale: 0 });

const FORM = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Parses `0.0025`, `3` or `1e-7`. @throws RangeError for anything else. */
export function parseDecimal(text: string): Decimal {
  const [, sign, whole, fraction = "", exponent = "0"] = FORM.exec(text) ?? [];
  if (whole === undefined) throw new RangeError("not a decimal number");
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/**
 * A float from the price list as the decimal that its author wrote: its shortest representation (0.1 is 0.1, not the
 * nearest binary fraction).
 */
export const decimalOfNumber = (value: number): Decimal => parseDecimal(String(value));

export function plus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: atScale(a, scale) + atScale(b, scale), scale };
}

export const difference = (a: Decimal, b: Decimal): Decimal => plus(a, { digits: -b.digits, scale: b.scale });

/** @throws RangeError if `count` is not an integer. */
export const times = (value: Decimal, count: number): Decimal => ({
  digits: value.digits * BigInt(count),
  scale: value.scale,
});

/** `value / 10^places`; 6 converts a price per million into a price per token. */
export const shiftDown = (value: Decimal, places: number): Decimal => ({
  digits: value.digits,
  scale: value.scale + places,
});

export function isOver(a: Decimal, b: Decimal): boolean {
  const scale = Math.max(a.scale, b.scale);
  return atScale(a, scale) > atScale(b, scale);
}

export const isZero = (value: Decimal): boolean => value.digits === 0n;

/** The shortest text without exponent, such as `0.00125`, which Postgres's `numeric` accepts. */
export function formatDecimal({ digits, scale }: Decimal): string {
  const negative = digits < 0n;
  const text = (negative ? -digits : digits).toString().padStart(scale + 1, "0");
  const whole = text.slice(0, text.length - scale);
  const fraction = text.slice(text.length - scale).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${fraction ? `.${fraction}` : ""}`;
}

const atScale = (value: Decimal, scale: number): bigint =>
  value.scale === scale ? value.digits : value.digits * 10n ** BigInt(scale - value.scale);
