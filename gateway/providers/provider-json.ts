import { parseLabel } from "#shared/labels.ts";

/** A JSON object that a provider sent. */
export type ProviderObject = { readonly [member: string]: unknown };

/** Largest count that is believed: what a Postgres `integer` holds. */
const COUNT_MAX = 2_147_483_647;

const decoder = new TextDecoder();

/** The JSON object that the bytes write, or null: damaged or foreign text tells nothing. */
export function parseObject(bytes: Uint8Array): ProviderObject | null {
  try {
    return objectOf(JSON.parse(decoder.decode(bytes)));
  } catch {
    return null;
  }
}

export const objectOf = (value: unknown): ProviderObject | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ProviderObject) : null;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A whole number from 0 to `COUNT_MAX`, else null: a figure that cannot be a count was not told. */
export const countOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX ? value : null;

/** A name that a provider gives, such as its model's: at most 200 characters, none of them a control character. */
export const nameOf = (value: unknown): string | null =>
  typeof value === "string" ? parseLabel(value, 200) : null;

/** The sum, or null where it is larger than a count may be. */
export function sumOf(...counts: (number | null)[]): number | null {
  const sum = counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  return sum <= COUNT_MAX ? sum : null;
}

/** A part of a whole: null where it was not told or is larger than the whole, so cannot be a part of it. */
export const partOf = (part: number | null, whole: number | null): number | null =>
  part !== null && whole !== null && part <= whole ? part : null;
