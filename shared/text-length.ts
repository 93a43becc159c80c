/** Whether a text has at most `max` code points, as JSON Schema and Postgres count; `length` counts UTF-16 units. */
export const isWithinLength = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max);

/** Ends of lines, and changes of the direction of text, with which a name could look like another, too. */
export const CONTROL = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/** Whether a text is 1 to `max` characters that Postgres can store, none of them a control character. */
export const isSingleLine = (text: string, max: number): boolean =>
  text.length > 0 && isWithinLength(text, max) && text.isWellFormed() && !CONTROL.test(text);
