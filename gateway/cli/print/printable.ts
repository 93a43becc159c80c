/** What moves a cursor, changes a terminal's state, or turns the direction of the text beside it. */
const ACTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** More marks on one letter than any script has; a pile of them covers the lines around it. */
const PILE = /(\p{M}{4})\p{M}+/gu;

/** A name from outside as one line of text that a terminal only shows. */
export const printable = (name: string): string => name.replace(ACTIVE, "\uFFFD").replace(PILE, "$1");

/** The same for a text of several lines; tabs stay, too. */
export const printableText = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(ACTIVE, (unit) => (unit === "\n" || unit === "\t" ? unit : "\uFFFD"))
    .replace(PILE, "$1");

/** The same in at most `width` columns; "…" marks what was cut. */
export function shortened(name: string, width: number): string {
  const text = printable(name);
  const cut = (columns: number) => Bun.sliceAnsi(text, 0, columns, { ellipsis: "…" });
  const fitting = cut(width);
  // Bun keeps a wide character that begins in the last column.
  return Bun.stringWidth(fitting) > width ? cut(width - 1) : fitting;
}

/** JSON in which what a terminal would act on is escaped; it reads back as the same value. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(ACTIVE, (text) => (text === "\n" ? text : escaped(text)));

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => {
    const unit = text.charCodeAt(at).toString(16).padStart(4, "0");
    return `\\u${unit}`;
  }).join("");
