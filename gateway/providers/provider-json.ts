import { parseLabel } from "#shared/labels.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";

export type ProviderObject = { readonly [member: string]: unknown };

/** Largest accepted count: the largest Postgres `integer`. */
const COUNT_MAX = 2_147_483_647;

const decoder = new TextDecoder();

/** The JSON object in the bytes; null for anything else, damaged text included. */
export function parseObject(bytes: Uint8Array): ProviderObject | null {
  try {
    return objectOf(JSON.parse(decoder.decode(bytes)));
  } catch {
    return null;
  }
}

export const objectOf = (value: unknown): ProviderObject | null =>
  // Any object that is not an array can be read as a record.
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ProviderObject) : null;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A whole number from 0 to `COUNT_MAX`, else null. */
export const countOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX ? value : null;

/** A name that a provider gives, such as its model's: at most 200 characters, none of them a control character. */
export const nameOf = (value: unknown): string | null =>
  typeof value === "string" ? parseLabel(value, 200) : null;

const ERROR_NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** An error's `code`, or else its `type`, if that is a short name or a status; no other text of it is kept. */
export function errorNameOf(error: ProviderObject): string {
  const names = [error["code"], error["type"]].map((name) => (typeof name === "number" ? `${name}` : name));
  const name = names.find((it) => typeof it === "string" && (ERROR_NAME.test(it) || /^[45]\d\d$/.test(it)));
  return typeof name === "string" ? name : "error";
}

/** The name of the error that is a whole answer's or event's `error`; undefined without one. */
export function failureIn(object: ProviderObject | null): string | undefined {
  const error = objectOf(object?.["error"]);
  return error ? errorNameOf(error) : undefined;
}

/** The sum; null if it exceeds `COUNT_MAX`. */
export function sumOf(...counts: (number | null)[]): number | null {
  const sum = counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  return sum <= COUNT_MAX ? sum : null;
}

/** The sum of a count in two usages; null if neither has it or the sum exceeds `COUNT_MAX`. */
const sumOfCount = (a: Usage, b: Usage, count: keyof Usage): number | null =>
  a[count] === null && b[count] === null ? null : sumOf(a[count], b[count]);

/** The sum of two usages. A count present in only one is taken from it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = { ...NO_USAGE };
  for (const count in sum) if (isCount(count)) sum[count] = sumOfCount(a, b, count);
  return sum;
}

const isCount = (name: string): name is keyof Usage => Object.hasOwn(NO_USAGE, name);

type Cached = { read: number | null; written?: number | null; long?: number | null };

/** The parts of an input that includes cached tokens. Cached counts above it are wrong: its own figure is used. */
export function inputParts(input: number | null, { read, written = null, long = null }: Cached) {
  const cached = partOf(sumOf(read, written, long), input);
  const isKnown = cached !== null;
  return {
    uncachedInputTokens: input === null ? null : input - (cached ?? 0),
    cacheReadTokens: isKnown ? read : null,
    cacheWrite5mTokens: isKnown ? written : null,
    cacheWrite1hTokens: isKnown ? long : null,
  };
}

/** A part of a whole; null if unknown or larger than the whole. */
export const partOf = (part: number | null, whole: number | null): number | null =>
  part !== null && whole !== null && part <= whole ? part : null;
