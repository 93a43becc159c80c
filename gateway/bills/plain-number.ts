import { formatDecimal, parseDecimal } from "#shared/decimal.ts";

export const DECIMAL_MARKS = [".", ","] as const;
export type DecimalMark = (typeof DECIMAL_MARKS)[number];

/**
 * Numbers as people and programs write them: `1,234.50`, `$0.02`, `1.2E-05`, or `1.234,50` with a decimal comma. Thousands are
 * separated completely or not at all. `decimal` null: the form says which mark decimals have. An empty text and a JSON list stay as they are. Errors name
 * `what` the number is.
 * @throws RangeError
 */
export function plainNumber(text: string, decimal: DecimalMark | null, what: string): string {
  if (text === "" || text.startsWith("[")) return text;
  const bare = text.replace(/^(-?)[$€£]/, "$1");
  const marks = bare.match(/[.,]/g) ?? [];
  const isOne = new Set(marks).size === 1;
  if (decimal === null && /^-?[1-9]\d{0,2}[.,]\d{3}$/.test(bare)) {
    throw new RangeError(`${text} can be read in two ways; set \`decimal\` to . or to ,`);
  }
  const isComma = (decimal ?? (isOne && marks.length > 1 ? OTHER[marks[0] ?? ""] : marks.at(-1))) === ",";
  const written = isComma ? bare.replace(/[.,]/g, (mark) => OTHER[mark] ?? mark) : bare;
  if (written.includes(",") && !GROUPED.test(written)) throw new RangeError(`its ${what} is not a number`);
  try {
    return formatDecimal(parseDecimal(written.replaceAll(",", "")));
  } catch {
    throw new RangeError(`its ${what} is not a number`);
  }
}

const OTHER: Readonly<Record<string, string>> = { ".": ",", ",": "." };
const GROUPED = /^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/;
