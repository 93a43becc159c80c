/** Larger figures are not measurements. */
const FIGURE_MAX = 1e12;

/** A number in OTLP/JSON, possibly sent as text; NaN for anything else, null if absent. */
export function readNumber(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return value;
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : Number.NaN;
}

const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/;

/** Why a figure cannot be stored; null if it can. */
export function figureFault(value: number | null, whole: boolean): string | null {
  if (value === null) return "has no sum";
  if (Number.isNaN(value)) return "is not a number";
  if (value < 0) return "is negative";
  if (value > (whole ? Number.MAX_SAFE_INTEGER : FIGURE_MAX)) return "is too large";
  return whole && !Number.isInteger(value) ? "is not a whole number" : null;
}

/** Milliseconds since 1970 from nanoseconds as text or number; null without a valid time. */
export function readTime(nanos: unknown): number | null {
  const ms =
    typeof nanos === "string" && /^\d{1,20}$/.test(nanos)
      ? Number(nanos.slice(0, -6))
      : typeof nanos === "number"
        ? Math.floor(nanos / 1e6)
        : Number.NaN;
  return ms > 0 && ms < TIME_MAX_MS ? ms : null;
}

/** Maximum of 64-bit nanoseconds. */
const TIME_MAX_MS = 18_446_744_073_710;
