import { difference, type Exact, isOver, parseDecimal, plus, product, ZERO } from "#shared/decimal.ts";
import { isSameModel } from "../pricing/price-answer.ts";
import { TOKEN_UNITS } from "../pricing/rate.ts";
import type { BillLineRow } from "./bill-rows.ts";
import type { Basis, Metered } from "./metered.ts";

export type Sum = { quantity: Exact | null; usd: Exact };

/** What is billed and what was metered of one model, unit and tier. An empty name: all of them together. */
export type BillCell = {
  model: string;
  kind: string;
  tier: string;
  billed: Sum;
  /** Used, but not in this bill. */
  unbilled: Exact;
  /** Counts that the bill takes back by negative lines. */
  givenBack: Exact;
  /** Billed in another currency: with a rate, or (`unconverted`) without one. */
  foreign: boolean;
  unconverted: boolean;
  metered: Map<Basis, Sum>;
  /** Counted and not priced. */
  unpriced: Exact;
  partial: boolean;
  /** Of calls that began before the bill's days and ended in them, and of those that ended after them. */
  edges: { into: Exact; outOf: Exact };
};

/** What a unit is part of where the other side does not count it apart. */
const PART_OF: Readonly<Record<string, string>> = {
  reasoning: "output",
  audio_output: "output",
  image_output: "output",
  cache_audio_read: "cache_read",
  cache_write_1h: "cache_write_5m",
  cache_write_5m: "input",
  cache_read: "input",
  audio_input: "input",
  image_input: "input",
};

const ALL = "";
const isToken = (kind: string): boolean => TOKEN_UNITS.some((unit) => unit === kind);

type Place = { model: string; kind: string; tier: string };

/** Lines of use and what was metered in the same days, side by side. */
export function sideBySide(lines: readonly BillLineRow[], metered: readonly Metered[]): BillCell[] {
  const placeOf = placing(lines, metered);
  const cells = new Map<string, BillCell>();
  const cellAt = (place: Place): BillCell => {
    const key = JSON.stringify([place.model, place.kind, place.tier]);
    const cell = cells.get(key) ?? emptyCell(place);
    cells.set(key, cell);
    return cell;
  };
  for (const line of lines) addLine(cellAt(placeOf.line(line)), line);
  for (const row of metered) addMetered(cellAt(placeOf.metered(row)), row);
  return [...cells.values()];
}

const emptyCell = (place: Place): BillCell => ({
  ...place,
  billed: { quantity: ZERO, usd: ZERO },
  unbilled: ZERO,
  givenBack: ZERO,
  foreign: false,
  unconverted: false,
  metered: new Map(),
  unpriced: ZERO,
  partial: false,
  edges: { into: ZERO, outOf: ZERO },
});

function addLine(cell: BillCell, { kind, quantity, amount, rate, currency }: BillLineRow): void {
  // Beside tokens, a count of something that the bill does not name may be of anything; fees are no tokens.
  const isApart = cell.kind === ALL && kind !== null;
  const isUnknown = quantity === null || (isApart && isToken(kind));
  const count = isUnknown ? null : isApart ? ZERO : parseDecimal(quantity);
  if (amount === null) {
    cell.unbilled = plus(cell.unbilled, parseDecimal(quantity ?? "0"));
    return;
  }
  if (count && isOver(ZERO, count)) cell.givenBack = difference(cell.givenBack, count);
  cell.foreign ||= currency !== "USD";
  cell.unconverted ||= rate === null;
  const usd = rate === null ? ZERO : product(parseDecimal(amount), parseDecimal(rate));
  cell.billed = added(cell.billed, { quantity: count, usd });
}

const added = (a: Sum, b: Sum): Sum => ({
  quantity: a.quantity === null || b.quantity === null ? null : plus(a.quantity, b.quantity),
  usd: plus(a.usd, b.usd),
});

function addMetered(cell: BillCell, row: Metered): void {
  const count = row.quantity === null ? null : parseDecimal(row.quantity);
  const { edges } = cell;
  if (row.atEdge && !row.inBill) edges.into = plus(edges.into, count ?? ZERO);
  if (row.atEdge && row.inBill) edges.outOf = plus(edges.outOf, count ?? ZERO);
  if (!row.inBill) return;
  cell.partial ||= row.partial;
  if (row.unpriced) {
    cell.unpriced = plus(cell.unpriced, count ?? ZERO);
    return;
  }
  const usd = parseDecimal(row.costUsd);
  if (count === null && usd.num === 0n) return;
  // Fees beside tokens are no tokens.
  const quantity = cell.kind === ALL && row.kind !== ALL && !isToken(row.kind) ? ZERO : count;
  const sum = cell.metered.get(row.basis) ?? { quantity: ZERO, usd: ZERO };
  cell.metered.set(row.basis, added(sum, { quantity, usd }));
}

/** Where a line and a record belong, at the finest that both sides tell apart. */
function placing(lines: readonly BillLineRow[], metered: readonly Metered[]) {
  const billedModels = [...new Set(lines.flatMap(({ model }) => model ?? []))];
  const withoutModel = lines.filter(({ model }) => model === null);
  const isTotal = withoutModel.some(({ kind }) => kind === null);
  const names = new Map<string, string>();
  const nameOf = (model: string): string => {
    const known = names.get(model) ?? billedName(model, billedModels);
    names.set(model, known);
    return known;
  };
  const modelOf = ({ model, kind }: Metered): string => {
    const name = nameOf(model);
    if (lines.some((line) => line.model === name && (line.kind === null || line.kind === kind))) return name;
    if (withoutModel.some((line) => line.kind === kind)) return ALL;
    return isTotal && !billedModels.includes(name) ? ALL : name;
  };
  const groups = new Map<string, { kinds: Set<string>[]; noKind: boolean; noTier: boolean }>();
  const groupOf = (model: string) => {
    const group = groups.get(model) ?? { kinds: [new Set(), new Set()], noKind: false, noTier: false };
    groups.set(model, group);
    return group;
  };
  for (const { model, kind, tier } of lines) {
    const group = groupOf(model ?? ALL);
    if (kind === null) group.noKind = true;
    else group.kinds[0]?.add(kind);
    group.noTier ||= tier === null;
  }
  for (const row of metered) if (row.kind !== ALL) groupOf(modelOf(row)).kinds[1]?.add(row.kind);
  const place = (model: string, kind: string, tier: string): Place => {
    const { kinds, noKind, noTier } = groupOf(model);
    return { model, kind: noKind ? ALL : folded(kind, kinds), tier: noTier ? ALL : tier };
  };
  return {
    line: (it: BillLineRow) => place(it.model ?? ALL, it.kind ?? ALL, it.tier ?? ALL),
    metered: (it: Metered) => place(modelOf(it), it.kind, it.tier),
  };
}

/** The bill's name of a model: the same, or the only one that differs by a date alone; else its own. */
function billedName(model: string, billed: readonly string[]): string {
  const same = billed.find((name) => name.toLowerCase() === model.toLowerCase());
  const alike = billed.filter((name) => isSameModel(name, model));
  return same ?? (alike.length === 1 ? alike[0] : undefined) ?? model;
}

/** The unit, or what it is part of until both sides count it. */
function folded(kind: string, sides: readonly ReadonlySet<string>[]): string {
  if (sides.every((side) => side.has(kind))) return kind;
  const whole = PART_OF[kind];
  if (whole === undefined) return kind;
  const isApart = sides.some((side) => side.has(kind)) && !sides.some((side) => side.has(whole));
  return isApart ? kind : folded(whole, sides);
}

export const meteredSum = (cell: BillCell): Sum =>
  [...cell.metered.values()].reduce(added, { quantity: ZERO, usd: ZERO });
