/** The word for a number of things: `one` for exactly 1, else `many` (0 calls, 0.5 hours). */
export const plural = (value: number | string, one: string, many = `${one}s`): string =>
  Number(value) === 1 ? one : many;

/** A count with its word, in English: `1 record`, `1,200 records`. */
export const counted = (value: number | string, one: string, many?: string): string =>
  `${Number(value).toLocaleString("en-US")} ${plural(value, one, many)}`;
