/**
 * Whether a text has at most `max` characters, which are Unicode code points: as JSON Schema and Postgres count them, and
 * not the UTF-16 code units that `length` counts, of which one character takes up to two.
 */
export const isWithinLength = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max);

const CONTROL = /\p{Cc}/u;

/** Whether a text is 1 to `max` characters that Postgres can store, none of them a control character. */
export const isSingleLine = (text: string, max: number): boolean =>
  text.length > 0 && isWithinLength(text, max) && text.isWellFormed() && !CONTROL.test(text);
