import { RECONCILIATION_PARTS, type ReconciliationPart } from "#shared/admin/reconciliation.ts";
import {
  decimalQuotient,
  difference,
  type Exact,
  exactSum,
  isOver,
  isZero,
  parseDecimal,
  plus,
  product,
  ZERO,
} from "#shared/decimal.ts";
import type { BillLineRow } from "./bill-rows.ts";
import { type BillCell, meteredSum, type Sum, sideBySide } from "./cells.ts";
import { NOT_METERED } from "./mappings.ts";
import type { Basis, Metered } from "./metered.ts";

/** USD by the reason for the difference; they add up to it. */
export type Parts = Record<ReconciliationPart, Exact>;

const noParts = (): Parts =>
  // Every part is named in the list.
  Object.fromEntries(RECONCILIATION_PARTS.map((part) => [part, ZERO])) as Parts;

export type Difference = { model: string; kind: string; billed: Exact; metered: Exact; parts: Parts };

export type TakenApart = { billed: Exact; metered: Exact; parts: Parts; items: Difference[] };

/** `usd × part / whole`; the whole stays what it is, to the last digit. */
function share(usd: Exact, part: Exact, whole: Exact): Exact {
  if (isZero(part) || isZero(usd)) return ZERO;
  if (isZero(difference(part, whole))) return usd;
  const [sign, size] = usd.num < 0n ? [-1n, { num: -usd.num, den: usd.den }] : [1n, usd];
  const { num, den } = decimalQuotient(product(size, part), whole);
  return { num: sign * num, den };
}

/** What two counts have in common; one may be below 0, where more is given back than billed. */
const lesser = (a: Exact, b: Exact): Exact => {
  const least = isOver(a, b) ? b : a;
  return isOver(ZERO, least) ? ZERO : least;
};
const negative = ({ num, den }: Exact): Exact => ({ num: -num, den });

/**
 * Takes the difference between a bill and what was metered apart until nothing is left. What has no reason is
 * `unexplained`. `keys` are the vendor's keys that the gateway uses; null: all.
 */
export function takeApart(
  lines: readonly BillLineRow[],
  metered: readonly Metered[],
  keys: readonly string[] | null,
): TakenApart {
  const items: Difference[] = [];
  const used: BillLineRow[] = [];
  for (const line of lines) {
    const part = apartOf(line, keys);
    if (part === null) used.push(line);
    else items.push(itemOf(line.item, usdOf(line), part));
  }
  const all = sideBySide(used, metered);
  // An answer without usage has no unit of its own.
  const partial = new Set(all.flatMap((cell) => (cell.partial ? [cell.model, ""] : [])));
  for (const cells of Map.groupBy(all, ({ model, kind }) => `${model}|${kind}`).values()) {
    items.push(cellsApart(cells, partial.has(cells[0]?.model ?? "")));
  }
  const parts = noParts();
  for (const item of items)
    for (const name of RECONCILIATION_PARTS) parts[name] = plus(parts[name], item.parts[name]);
  const days = metered.map(({ inBill, inUtc, costUsd }) => ({ inBill, inUtc, usd: parseDecimal(costUsd) }));
  const inUtc = exactSum(days.flatMap((it) => (it.inUtc ? it.usd : [])));
  const inBill = exactSum(days.flatMap((it) => (it.inBill ? it.usd : [])));
  parts.clock = plus(parts.clock, difference(inBill, inUtc));
  return { billed: exactSum(items.map(({ billed }) => billed)), metered: inUtc, parts, items };
}

const usdOf = ({ amount, rate }: BillLineRow): Exact =>
  amount === null || rate === null ? ZERO : product(parseDecimal(amount), parseDecimal(rate));

function itemOf(model: string, billed: Exact, part: ReconciliationPart): Difference {
  const parts = noParts();
  parts[part] = billed;
  return { model, kind: "", billed, metered: ZERO, parts };
}

/** The reason for a line that no record can be the use of; null: it is use. */
function apartOf(
  { category, key, kind }: BillLineRow,
  keys: readonly string[] | null,
): ReconciliationPart | null {
  if (category !== "usage") return "taxes_and_credits";
  if (keys !== null && key !== null && !keys.includes(key)) return "unknown_keys";
  return NOT_METERED.some((name) => name === kind) ? "unpriced" : null;
}

/** What is left of one side after as much as possible was matched. */
type Rest = { tier: string; over: Sum; under: Sum };

function cellsApart(cells: readonly BillCell[], partial: boolean): Difference {
  const [{ model, kind } = { model: "", kind: "" }] = cells;
  const parts = noParts();
  const add = (part: ReconciliationPart, usd: Exact) => {
    parts[part] = plus(parts[part], usd);
  };
  const rests = cells.map((cell) => cellApart(cell, add));
  matchTiers(rests, add);
  let into = exactSum(cells.map(({ edges }) => edges.into));
  let outOf = exactSum(cells.map(({ edges }) => edges.outOf));
  let back = exactSum(
    cells.map(({ givenBack, billed }) => lesser(givenBack, plus(billed.quantity ?? ZERO, givenBack))),
  );
  for (const { over, under } of rests) {
    const early = taken(over, into);
    const late = taken(under, outOf);
    into = difference(into, early.quantity ?? ZERO);
    outOf = difference(outOf, late.quantity ?? ZERO);
    add("clock", difference(early.usd, late.usd));
    const credited = taken(under, back);
    back = difference(back, credited.quantity ?? ZERO);
    add("taxes_and_credits", negative(credited.usd));
    const isCredit = over.usd.num < 0n;
    add(
      isCredit ? "taxes_and_credits" : partial && !isZero(over.usd) ? "seen_in_part" : "unexplained",
      over.usd,
    );
    add("unexplained", negative(under.usd));
  }
  const billed = exactSum(cells.map((cell) => cell.billed.usd));
  return { model, kind, billed, metered: exactSum(cells.map((cell) => meteredSum(cell).usd)), parts };
}

/** Takes up to `most` of a rest, with its share of the money. */
function taken(rest: Sum, most: Exact): Sum {
  const quantity = lesser(rest.quantity ?? ZERO, most);
  const usd = share(rest.usd, quantity, rest.quantity ?? ZERO);
  rest.quantity = difference(rest.quantity ?? ZERO, quantity);
  rest.usd = difference(rest.usd, usd);
  return { quantity, usd };
}

/** The same tokens billed in another tier than they were metered in. */
function matchTiers(rests: readonly Rest[], add: (part: ReconciliationPart, usd: Exact) => void): void {
  for (const { tier, over } of rests) {
    for (const { tier: other, under } of rests) {
      if (tier === other) continue;
      const most = lesser(over.quantity ?? ZERO, under.quantity ?? ZERO);
      add("tier", difference(taken(over, most).usd, taken(under, most).usd));
    }
  }
}

type Add = (part: ReconciliationPart, usd: Exact) => void;

/** Compares one cell by its counts; without them, by its sums. */
function cellApart(cell: BillCell, add: Add): Rest {
  const none = (): Sum => ({ quantity: ZERO, usd: ZERO });
  const { tier, billed } = cell;
  const metered = meteredSum(cell);
  if (cell.unconverted) {
    add("currency", difference(billed.usd, metered.usd));
    return { tier, over: none(), under: none() };
  }
  const under = { ...metered };
  // Paid for otherwise, as the priority tier is.
  add("tier", negative(taken(under, cell.unbilled).usd));
  const isCounted = billed.quantity !== null && metered.quantity !== null;
  const isComparable = isCounted && (!isZero(billed.quantity ?? ZERO) || isZero(billed.usd));
  if (!isComparable || (isZero(metered.quantity ?? ZERO) && !isZero(metered.usd))) {
    return { tier, ...sumsApart(cell, { billed: billed.usd, metered: under.usd }, add) };
  }
  const over = { ...billed };
  add("unpriced", taken(over, cell.unpriced).usd);
  const matched = lesser(over.quantity ?? ZERO, under.quantity ?? ZERO);
  const [ours, theirs] = [taken(under, matched), taken(over, matched)];
  addPrices(cell, { ours, theirs }, add);
  return { tier, over, under };
}

const PART_OF_BASIS: Readonly<Record<Basis, ReconciliationPart>> = {
  list: "price_list",
  vendor: "price_list",
  batch: "price_list",
  contract: "price_contract",
  interactive: "tier",
};

/** The same counts at another price, by where our price is from. The last of several gets what rounding leaves. */
function addPrices(cell: BillCell, { ours, theirs }: { ours: Sum; theirs: Sum }, add: Add): void {
  const whole = meteredSum(cell);
  const all = difference(theirs.usd, ours.usd);
  if (isZero(all)) return;
  // Of different models or units, an average price says nothing about either.
  const isMixed = cell.model === "" || cell.kind === "";
  let left = all;
  const bases = [...cell.metered];
  for (const [index, [basis, sum]] of bases.entries()) {
    const theirShare = share(theirs.usd, sum.quantity ?? ZERO, whole.quantity ?? ZERO);
    const ourShare = share(sum.usd, ours.quantity ?? ZERO, whole.quantity ?? ZERO);
    const own = isMixed ? share(all, sum.usd, whole.usd) : difference(theirShare, ourShare);
    const apart = index === bases.length - 1 ? left : own;
    left = difference(left, apart);
    add(cell.foreign ? "currency" : PART_OF_BASIS[basis], apart);
  }
}

/** Without counts a sum has one reason, and only where the records give it. */
function sumsApart(cell: BillCell, usd: { billed: Exact; metered: Exact }, add: Add) {
  const apart = difference(usd.billed, usd.metered);
  const isMore = apart.num > 0n;
  const interactive = cell.metered.get("interactive")?.usd ?? ZERO;
  const reason: ReconciliationPart | null =
    isMore && !isZero(cell.unpriced)
      ? "unpriced"
      : !isMore && isOver(interactive, negative(apart))
        ? "tier"
        : null;
  if (reason !== null) add(reason, apart);
  const rest = reason === null ? apart : ZERO;
  return {
    over: { quantity: null, usd: isMore ? rest : ZERO },
    under: { quantity: null, usd: isMore ? ZERO : negative(rest) },
  };
}
