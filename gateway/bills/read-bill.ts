import { BILL_CATEGORIES, type BillCategory, type vendorBillLines } from "#drizzle/schema/vendor-bills.ts";
import { readInstant } from "#shared/admin/fields.ts";
import { formatDecimal, parseDecimal, plus, product, ZERO } from "#shared/decimal.ts";
import { isRecord, parsedJson } from "#shared/json.ts";
import { dayIn } from "#shared/time-zone.ts";
import { refuse } from "../errors.ts";
import type { CsvRow } from "./csv.ts";
import { kindIn, type Mapping, type Services, tierIn, unitSize } from "./mappings.ts";

/** A line before it has its place in the bill. */
export type BillLine = Omit<typeof vendorBillLines.$inferSelect, "orgId" | "account" | "line" | "rate">;

export type BillOf = {
  /** Which rows count; absent: all. */
  services?: Services | undefined;
  mapping: Mapping;
  timeZone: string;
  /** Model ids by what the bill calls them. */
  models: Readonly<Record<string, string>>;
  /** Where the file names none. */
  currency: string;
};

/** Rows that are read before other work of the process gets its turn. */
const ROWS_AT_ONCE = 2000;

/**
 * The lines of a file; rows of one day and item are added up. Rows of other services than models are left out.
 * @throws GatewayError invalid_request that names the row and what is wrong with it
 */
export async function readBill(
  rows: Iterable<CsvRow>,
  bill: BillOf,
): Promise<{ lines: BillLine[]; leftOut: number }> {
  const lines: BillLine[] = [];
  let leftOut = 0;
  let row = 1;
  try {
    for (const fields of rows) {
      row += 1;
      if (isOfModels(fields, bill)) lines.push(...linesOf(fields, bill));
      else leftOut += 1;
      if (row % ROWS_AT_ONCE === 0) await Bun.sleep(0);
    }
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    refuse(`Row ${row}: ${cause.message}.`);
  }
  return { lines: addedUp(lines), leftOut };
}

const EVERY: Services = { columns: [], words: /./ };

function isOfModels(fields: CsvRow, { services = EVERY }: BillOf): boolean {
  const { columns, words } = services;
  const told = columns.flatMap((column) => fields[column] || []);
  return told.length === 0 || words.test(told.join(" "));
}

type Part = keyof Mapping;

function linesOf(fields: CsvRow, { mapping, timeZone, models, currency }: BillOf): BillLine[] {
  const of = (part: Part): string => {
    for (const column of mapping[part] ?? []) {
      const value = sumOf(column, fields);
      if (value !== "") return value;
    }
    return "";
  };
  const amount = of("amount");
  if (amount === "" && of("day") === "") return [];
  const category = categoryOf(of("category"));
  const [start, end] = [startOf(of("day"), timeZone), of("end")];
  const item = of("item") || of("model") || "total";
  const words = of("kind") || item;
  const tier = of("tier").toLowerCase() || tierIn(`${words} ${item}`);
  const kind = kindIn(words);
  const credits = creditsIn(of("credits"));
  if (category === "usage" && end !== "" && startOf(end, timeZone).ms - start.ms > LONGEST_DAY_MS) {
    throw new RangeError("it covers more than one day; export the bill by day");
  }
  const line = {
    day: start.day,
    category,
    item,
    model: modelOf([of("model"), item], models) ?? (of("model").toLowerCase() || null),
    kind,
    tier: tier ?? (mapping.kind && kind ? "standard" : null),
    key: of("key") || null,
    quantity: quantityOf(of("quantity"), of("unit")),
    amount: decimalIn(amount),
    currency: (of("currency") || currency).toUpperCase(),
  };
  const credit = { ...line, category: "credit", quantity: null, amount: credits } as const;
  return credits === "0" ? [line] : [line, credit];
}

/** The sum of a row's credits, which its amount is without. */
function creditsIn(text: string): string {
  const list: unknown = text.startsWith("[") ? parsedJson(text) : null;
  const amounts = Array.isArray(list)
    ? list.flatMap((it) => (isRecord(it) ? String(it["amount"] ?? "0") : []))
    : [text || "0"];
  return formatDecimal(amounts.map((amount) => parseDecimal(decimalIn(amount))).reduce(plus, ZERO));
}

const LONGEST_DAY_MS = 25 * 3_600_000;

const modelOf = (names: readonly string[], models: BillOf["models"]): string | null =>
  Object.entries(models).find(([name]) =>
    names.some((given) => given.toLowerCase() === name.toLowerCase()),
  )?.[1] ?? null;

function sumOf(column: string, fields: CsvRow): string {
  if (Object.hasOwn(fields, column)) return fields[column]?.trim() ?? "";
  const parts = column.split("+").filter((name) => Object.hasOwn(fields, name));
  if (parts.length < 2) return "";
  return formatDecimal(parts.map((name) => parseDecimal(fields[name] || "0")).reduce(plus, ZERO));
}

/** Amounts as people and programs write them: `1,234.50`, `$0.02`, `1.2E-05`. */
function decimalIn(text: string): string {
  try {
    return formatDecimal(parseDecimal(text.replace(/^(-?)[$€£]/, "$1").replace(/,(?=\d{3}\b)/g, "")));
  } catch {
    throw new RangeError(`${text === "" ? "there is no amount" : "its amount is no number"}`);
  }
}

const quantityOf = (quantity: string, unit: string): string | null =>
  quantity === ""
    ? null
    : formatDecimal(product(parseDecimal(decimalIn(quantity)), parseDecimal(unitSize(unit))));

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

const categoryOf = (text: string): BillCategory =>
  CATEGORIES.find(([words]) => words.test(text))?.[1] ?? BILL_CATEGORIES[3];

/** Lines that differ in nothing but their figures, as one. An unknown figure makes the sum unknown. */
function addedUp(lines: readonly BillLine[]): BillLine[] {
  const sum = (a: string | null, b: string | null): string | null =>
    a === null || b === null ? null : formatDecimal(plus(parseDecimal(a), parseDecimal(b)));
  const sums = new Map<string, BillLine>();
  for (const line of lines) {
    const { quantity, amount, ...what } = line;
    const key = JSON.stringify(Object.values(what));
    const known = sums.get(key);
    if (known) {
      known.quantity = sum(known.quantity, quantity);
      known.amount = sum(known.amount, amount);
    } else sums.set(key, { ...line });
  }
  return [...sums.values()];
}
