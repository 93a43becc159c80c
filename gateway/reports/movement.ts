import { difference, type Exact, formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { MOVE_NAMES, MOVES, type Move, type Movement } from "#shared/movement.ts";
import type { Ask } from "./context.ts";
import { logMean } from "./decompose.ts";
import { type MovementRow, type MovementTotal, movementOf, movementQuery } from "./movement-query.ts";
import { toNumber } from "./quotient.ts";
import { type Databases, knownIn, recordsOf } from "./reach.ts";

type Side = "previous" | "current";
type Cell = Record<Side, { units: Exact; usd: Exact }> & Pick<MovementRow, "model" | "kind" | "tier">;
type Parts = Record<Move, Exact>;

const SIDES = ["previous", "current"] as const;
const sideOf = ({ current }: { current: boolean }): Side => (current ? "current" : "previous");

/** Kinds of tokens go into the mix; pieces, such as images, have units of their own and no share. */
const directionOf = (kind: string): string | null =>
  /output|reasoning/.test(kind) ? "output" : /input|cache/.test(kind) ? "input" : null;

/**
 * A row's cost is people × requests per person × units per request × the shares of its model, of its direction within that, of its
 * kind and its tier × the price of a unit. Each factor's part is its logarithmic change, weighted with the logarithmic mean of both
 * costs (LMDI-I). Where a factor is 0 on one side, in the limit the first of these has the whole change.
 */
export function movement(rows: readonly MovementRow[], totals: readonly MovementTotal[]): Movement {
  const cells = cellsOf(rows);
  const factors = factorsOf(cells, totals);
  const moved = cells.map((cell) => {
    const delta = difference(cell.current.usd, cell.previous.usd);
    return { cell, delta, parts: partsOf(cell, factors, delta) };
  });
  const name = ({ cell: { model, kind, tier } }: (typeof moved)[number]) => `${model} ${kind} ${tier}`;
  const size = ({ delta }: (typeof moved)[number]) => Math.abs(toNumber(delta));
  moved.sort((a, b) => size(b) - size(a) || (name(a) < name(b) ? -1 : 1));
  const sum = (of: (row: (typeof moved)[number]) => Exact) => moved.map(of).reduce(plus, ZERO);
  const parts = partsBy((name) => sum((row) => row.parts[name]));
  return {
    previous_usd: formatDecimal(sum(({ cell }) => cell.previous.usd)),
    current_usd: formatDecimal(sum(({ cell }) => cell.current.usd)),
    delta_usd: formatDecimal(sum(({ delta }) => delta)),
    ...grouped(parts),
    parts: Object.fromEntries(
      Object.entries(parts).map(([name, usd]) => [name, formatDecimal(usd)]),
    ) as Movement["parts"],
    rows: moved.map(({ cell: { model, kind, tier, previous, current }, delta, parts: own }) => ({
      model,
      kind,
      tier,
      previous_units: formatDecimal(previous.units),
      current_units: formatDecimal(current.units),
      previous_usd: formatDecimal(previous.usd),
      current_usd: formatDecimal(current.usd),
      delta_usd: formatDecimal(delta),
      ...grouped(own),
    })),
    floor: totals.some(({ uncertain }) => uncertain > 0),
  };
}

// The names of the table, each with its value.
const partsBy = (of: (name: Move) => Exact): Parts =>
  Object.fromEntries(MOVE_NAMES.map((name) => [name, of(name)])) as Parts;

const grouped = (parts: Parts) => {
  const sum = (names: readonly Move[]) => formatDecimal(names.map((name) => parts[name]).reduce(plus, ZERO));
  return { volume: sum(MOVES.volume), mix: sum(MOVES.mix), rate: sum(MOVES.rate) };
};

function cellsOf(rows: readonly MovementRow[]): Cell[] {
  const cells = new Map<string, Cell>();
  const nothing = { units: ZERO, usd: ZERO };
  for (const { model, kind, tier, units, usd, ...row } of rows) {
    const key = JSON.stringify([model, kind, tier]);
    const cell = cells.get(key) ?? { model, kind, tier, previous: nothing, current: nothing };
    cells.set(key, { ...cell, [sideOf(row)]: { units: parseDecimal(units), usd: parseDecimal(usd) } });
  }
  return [...cells.values()];
}

type Factors = (cell: Cell, side: Side) => Record<Move, number>;

function factorsOf(cells: readonly Cell[], totals: readonly MovementTotal[]): Factors {
  const of = (side: Side) => totals.find((total) => sideOf(total) === side);
  const requests = { previous: of("previous")?.requests ?? 0, current: of("current")?.requests ?? 0 };
  const people = { previous: of("previous")?.people ?? 0, current: of("current")?.people ?? 0 };
  // Service accounts alone have no people: then calls are what there is more of.
  const isUnknown = SIDES.some((side) => requests[side] > 0 && people[side] === 0);
  const sums = new Map<string, number>();
  const add = (key: string, units: number) => sums.set(key, (sums.get(key) ?? 0) + units);
  const keys = ({ model, kind }: Cell, side: Side) => {
    const direction = directionOf(kind);
    return [[], [model], [model, direction], [model, direction, kind]].map((key) =>
      JSON.stringify([side, ...key]),
    );
  };
  for (const cell of cells)
    for (const side of SIDES)
      if (directionOf(cell.kind)) for (const key of keys(cell, side)) add(key, toNumber(cell[side].units));
  const per = (a: number, b: number) => (b === 0 ? 0 : a / b);
  return (cell, side) => {
    const units = toNumber(cell[side].units);
    const isToken = directionOf(cell.kind) !== null;
    const [all = 0, model = 0, direction = 0, kind = 0] = keys(cell, side).map((key) => sums.get(key) ?? 0);
    const share = (a: number, b: number) => (isToken ? per(a, b) : 1);
    const users = isUnknown ? Math.min(requests[side], 1) : people[side];
    return {
      people: users,
      requests_per_person: per(requests[side], users),
      units_per_request: per(isToken ? all : units, requests[side]),
      models: share(model, all),
      input_output: share(direction, model),
      cache: share(kind, direction),
      tiers: share(units, kind),
      prices: per(toNumber(cell[side].usd), units),
    };
  };
}

/** Parts are decimals of 12 places; what rounding leaves is the largest one's, so that they add up. */
function partsOf(cell: Cell, factors: Factors, delta: Exact): Parts {
  const before = factors(cell, "previous");
  const after = factors(cell, "current");
  const [from, to] = [toNumber(cell.previous.usd), toNumber(cell.current.usd)];
  const whole =
    MOVE_NAMES.find((name) => (before[name] === 0) !== (after[name] === 0)) ??
    (from * to > 0 ? null : MOVE_NAMES[MOVE_NAMES.length - 1]);
  if (whole) return partsBy((name) => (name === whole ? delta : ZERO));
  const weight = logMean(from, to);
  const parts = partsBy((name) => rounded(weight * Math.log(after[name] / before[name])));
  const left = difference(delta, MOVE_NAMES.map((name) => parts[name]).reduce(plus, ZERO));
  const size = (name: Move) => Math.abs(toNumber(parts[name]));
  const largest = MOVE_NAMES.reduce((a, b) => (size(b) > size(a) ? b : a));
  return { ...parts, [largest]: plus(parts[largest], left) };
}

const rounded = (usd: number): Exact => ({ num: BigInt(Math.round(usd * 1e12)), den: 10n ** 12n });

/** What moved the cost of a report, by the prices of single records. @throws GatewayError if some of them are dropped. */
export async function movementIn(databases: Databases, ask: Ask, rollupsFrom: number): Promise<Movement> {
  const known = await knownIn(databases, { ...ask, single: "rate_mix_volume" }, rollupsFrom);
  const { rows, totals } = movementOf(await recordsOf(databases, known)(movementQuery({ ...ask, ...known })));
  return movement(rows, totals);
}
