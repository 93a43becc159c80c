/** Picodollars (10^-12 USD). Costs and reservations are rounded up, budgets down, so rounding never admits more. */
export type Pico = bigint;

const PLACES = 12;

/** The exact decimal `digits / 10^scale`, rounded up. */
export function picoRoundedUp({ digits, scale }: { digits: bigint; scale: number }): Pico {
  if (scale <= PLACES) return digits * 10n ** BigInt(PLACES - scale);
  const part = 10n ** BigInt(scale - PLACES);
  return (digits + part - 1n) / part;
}

/** A decimal without exponent or sign, such as `12.5`, rounded down. */
export function parsePico(text: string): Pico {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, "0"));
}

/** As Postgres's `numeric` reads it. */
export function formatPico(pico: Pico): string {
  const digits = pico.toString().padStart(PLACES + 1, "0");
  return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

/** The same without zeros at its end. */
export const shortDecimal = (pico: Pico): string => formatPico(pico).replace(/\.?0+$/, "");
