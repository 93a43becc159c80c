import type { Exact } from "#shared/decimal.ts";

/** Picodollars (10^-12 USD). Costs and reservations are rounded up, budgets down, so rounding never admits more. */
export type Pico = bigint;

const PLACES = 12;
const PER_USD = 10n ** BigInt(PLACES);

export function picoRoundedUp({ num, den }: Exact): Pico {
  const pico = (num * PER_USD) / den;
  return num * PER_USD > pico * den ? pico + 1n : pico;
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
