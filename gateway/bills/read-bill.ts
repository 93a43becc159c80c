import { BILL_CATEGORIES, type BillCategory, type vendorBillLines } from "#drizzle/schema/vendor-bills.ts";
import { readInstant } from "#shared/admin/fields.ts";
import { MAPPED } from "#shared/admin/vendor-bills.ts";
import {
  decimalQuotient,
  formatDecimal,
  isOver,
  parseDecimal,
  plus,
  product,
  ZERO,
} from "#shared/decimal.ts";
import { exactJson, isRecord } from "#shared/json.ts";
import { dayIn } from "#shared/time-zone.ts";
import { refuse } from "../errors.ts";
import type { CsvRow } from "./csv.ts";
import { kindIn, type Mapping, type Services, tierIn, unitSize } from "./mappings.ts";
import { type DecimalMark, plainNumber } from "./plain-number.ts";

/** A line before it has its place in the bill. */
export type BillLine = Omit<typeof vendorBillLines.$inferSelect, "orgId" | "account" | "line">;

export type BillOf = {
  /** Which rows count; absent: all. */
  services?: Services | undefined;
  mapping: Mapping;
  timeZone: string;
  /** Model ids by what the bill calls them. */
  models: Readonly<Record<string, string>>;
  /** Where the file names none. */
  currency: string;
  /** What separates decimals; null: what the form of each number says. */
  decimal: DecimalMark | null;
};

/** Rows that are read before other work of the process gets its turn. */
const ROWS_AT_ONCE = 2000;

/** A file's lines, added up by day and item; models only. @throws GatewayError invalid_request naming row and fault */
export async function readBill(
  rows: Iterable<CsvRow>,
  bill: BillOf,
): Promise<{ lines: BillLine[]; leftOut: number }> {
  const lines = new Map<string, BillLine>();
  let leftOut = 0;
  let row = 2;
  try {
    for (const fields of rows) {
      if (isOfModels(fields, bill)) for (const line of linesOf(fields, bill)) addUp(lines, line);
      else leftOut += 1;
      if (row % ROWS_AT_ONCE === 0) await Bun.sleep(0);
      row += 1;
    }
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    refuse(`Row ${row}: ${cause.message}.`);
  }
  return { lines: [...lines.values()], leftOut };
}

const EVERY: Services = { columns: [], words: /./ };

function isOfModels(fields: CsvRow, { services = EVERY }: BillOf): boolean {
  const { columns, words } = services;
  const told = columns.flatMap((column) => fields[column] || []);
  return told.length === 0 || words.test(told.join(" "));
}

type Part = (typeof MAPPED)[number];
const NUMBERS: readonly Part[] = ["amount", "quantity", "credits", "rate", "per_usd"];

/** What a row has of each part; null: it is empty. */
function partsOf(fields: CsvRow, { mapping, currency, decimal }: BillOf): Record<Part, string> | null {
  if (Object.values(fields).every((value) => value.trim() === "")) return null;
  const parts = MAPPED.map((part): [Part, string] => {
    const read = (text: string) =>
      NUMBERS.includes(part) ? plainNumber(text.trim(), decimal, part) : text.trim();
    const texts = mapping[part]?.map((column) => textIn(column, fields, read));
    return [part, texts?.find((text) => text !== "") ?? ""];
  });
  // Each part is in the list.
  const found = Object.fromEntries(parts) as Record<Part, string>;
  for (const part of ["amount", "day"] as const) {
    if (found[part] === "") throw new RangeError(`there is no ${part} (${mapping[part]?.join(" or ")})`);
  }
  const code = (found.currency || currency).toUpperCase();
  if (!CURRENCY.test(code)) throw new RangeError(`its currency ${code} is no code such as EUR`);
  return { ...found, currency: code };
}

function linesOf(fields: CsvRow, bill: BillOf): BillLine[] {
  const row = partsOf(fields, bill);
  if (row === null) return [];
  const { amount, currency, end } = row;
  const start = startOf(row.day, bill.timeZone);
  const quantity = quantityOf(row);
  const category = categoryOf(row, quantity);
  const item = row.item || row.model || "total";
  const words = row.kind || item;
  const tier = row.tier.toLowerCase() || tierIn(`${words} ${item}`);
  const kind = kindIn(words);
  const credits = creditsIn(row.credits);
  if (category === "usage" && end !== "" && startOf(end, bill.timeZone).ms - start.ms > LONGEST_DAY_MS) {
    throw new RangeError("it covers more than one day; export the bill by day");
  }
  const line = {
    ...{ day: start.day, category, item, kind, quantity, amount, currency },
    model: modelOf([row.model, item], bill.models) ?? (row.model.toLowerCase() || null),
    tier: tier ?? (bill.mapping.kind && kind ? "standard" : null),
    key: row.key || null,
    rate: rateOf(row),
  };
  const credit = { ...line, category: "credit", quantity: null, amount: credits } as const;
  return credits === "0" ? [line] : [line, credit];
}

const quantityOf = ({ quantity, unit }: Record<Part, string>): string | null =>
  quantity === "" ? null : formatDecimal(product(parseDecimal(quantity), parseDecimal(unitSize(unit))));

/** The rate that the file has; null: none. */
function rateOf({ rate, per_usd: perUsd }: Record<Part, string>): string | null {
  const given = rate || perUsd;
  if (given === "") return null;
  if (!isOver(parseDecimal(given), ZERO)) throw new RangeError("its rate is not above 0");
  return rate || formatDecimal(decimalQuotient(parseDecimal("1"), parseDecimal(perUsd)));
}

export const CURRENCY = /^[A-Z]{3}$/;

/** The sum of a row's credits, which its amount is without. */
function creditsIn(text: string): string {
  const list = text.startsWith("[") ? exactJson(text) : null;
  const amounts = Array.isArray(list)
    ? list.flatMap((it) => (isRecord(it) ? String(it["amount"] ?? "0") : []))
    : [text || "0"];
  return formatDecimal(amounts.map(parseDecimal).reduce(plus, ZERO));
}

const LONGEST_DAY_MS = 25 * 3_600_000;

const modelOf = (names: readonly string[], models: BillOf["models"]): string | null =>
  Object.entries(models).find(([name]) =>
    names.some((given) => given.toLowerCase() === name.toLowerCase()),
  )?.[1] ?? null;

function textIn(column: string, fields: CsvRow, read: (text: string) => string): string {
  if (Object.hasOwn(fields, column)) return read(fields[column] ?? "");
  const parts = column.split("+").filter((name) => Object.hasOwn(fields, name));
  if (parts.length < 2) return "";
  return formatDecimal(parts.map((name) => parseDecimal(read(fields[name] ?? "") || "0")).reduce(plus, ZERO));
}

/** `2026-11-27`, `2026-11-27 14:00:00 UTC`, `2026-11-27T14:00Z`, `11/27/2026`. A date is the day itself, in any zone. */
function startOf(text: string, timeZone: string): { day: string; ms: number } {
  const iso = text.replace(/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/, "$3-0$1-0$2").replace(/-0(\d{2})/g, "-$1");
  const [, on = "", at, seconds = ":00", zone = "Z"] = START.exec(iso) ?? [];
  const ms = readInstant(at === undefined ? on : `${on}T${at}${seconds}${zone}`);
  if (ms === null) throw new RangeError("its day is no date");
  return { day: at === undefined ? on : dayIn(ms, timeZone), ms };
}

const START =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(?: ?(?:UTC|Z)|([+-]\d{2}:\d{2}))?)?$/;

const CATEGORIES: readonly (readonly [RegExp, BillCategory])[] = [
  [/tax|vat/i, "tax"],
  [/^$|usage|regular|consumption/i, "usage"],
  [/credit|refund|adjust|discount|rounding/i, "credit"],
];

/** What is given back without its use is a credit. */
function categoryOf({ category, amount }: Record<Part, string>, quantity: string | null): BillCategory {
  const named = CATEGORIES.find(([words]) => words.test(category))?.[1] ?? BILL_CATEGORIES[3];
  const isGivenBack = amount.startsWith("-") && !quantity?.startsWith("-");
  return named === "usage" && isGivenBack ? "credit" : named;
}

/** Lines that differ in nothing but their figures are one; what is given back stays apart. An unknown figure makes the sum unknown. */
function addUp(lines: Map<string, BillLine>, line: BillLine): void {
  const sum = (a: string | null, b: string | null): string | null =>
    a === null || b === null ? null : formatDecimal(plus(parseDecimal(a), parseDecimal(b)));
  const { quantity, amount, ...what } = line;
  const key = JSON.stringify([...Object.values(what), amount?.startsWith("-")]);
  const known = lines.get(key);
  if (known) {
    known.quantity = sum(known.quantity, quantity);
    known.amount = sum(known.amount, amount);
  } else lines.set(key, line);
}
