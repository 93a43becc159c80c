/** Dollars to a hundredth of a cent. */
export const USD = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
});

/** Dollars for people, e.g. `$1,234.50`; rounded to a hundredth of a cent, but never to zero. */
export function usdText(exact: string): string {
  // A decimal number as text: formatted exactly, where a float would be rounded first.
  const text = USD.format(exact as `${number}`);
  return text === "$0.00" && /[1-9]/.test(exact) ? "under $0.0001" : text;
}
