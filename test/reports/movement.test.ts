import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { connect } from "#drizzle/database.ts";
import type { ReportRunner } from "#gateway/reporting.ts";
import { movement } from "#gateway/reports/movement.ts";
import type { MovementRow, MovementTotal } from "#gateway/reports/movement-query.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { MOVE_NAMES, type Movement } from "#shared/movement.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { reportEngines } from "#test/support/report-engines.ts";
import { type RequestFacts, seed } from "./world.ts";

/** Whole units of 1e-30 USD, so that sums are exact. */
function exact(text: string): bigint {
  const [whole = "", decimals = ""] = text.replace("-", "").split(".");
  const value = BigInt(whole + decimals.padEnd(30, "0"));
  return text.startsWith("-") ? -value : value;
}
const total = (texts: string[]) => texts.map(exact).reduce((a, b) => a + b, 0n);

function expectExact(moved: Movement): void {
  const { rows, parts } = moved;
  expect(exact(moved.current_usd) - exact(moved.previous_usd)).toBe(exact(moved.delta_usd));
  expect(total(Object.values(parts))).toBe(exact(moved.delta_usd));
  expect(total([moved.volume, moved.mix, moved.rate])).toBe(exact(moved.delta_usd));
  for (const row of rows) expect(total([row.volume, row.mix, row.rate])).toBe(exact(row.delta_usd));
  for (const name of ["volume", "mix", "rate", "delta_usd", "previous_usd", "current_usd"] as const)
    expect(total(rows.map((row) => row[name]))).toBe(exact(moved[name]));
}

const usage = fc.record({
  model: fc.constantFrom("m1", "m2"),
  kind: fc.constantFrom("input", "cache_read", "output", "web_search"),
  tier: fc.constantFrom("(none)", "priority"),
  units: fc.integer({ min: 1, max: 1_000_000 }),
  price: fc.integer({ min: 1, max: 30_000 }),
});
const side = fc.record({
  people: fc.integer({ min: 1, max: 50 }),
  requests: fc.integer({ min: 50, max: 5_000 }),
  rows: fc.uniqueArray(usage, {
    selector: ({ model, kind, tier }) => `${model} ${kind} ${tier}`,
    minLength: 1,
    maxLength: 9,
  }),
});
type Usage = { model: string; kind: string; tier: string; units: number; price: number };
const rowsOf = (rows: readonly Usage[], current: boolean): MovementRow[] =>
  rows.map(({ units, price, ...row }) => ({
    ...{ ...row, current, units: String(units) },
    usd: `0.${String(BigInt(units) * BigInt(price)).padStart(12, "0")}`,
  }));

test("parts of each row and of the whole add up to the last digit, and swapped windows turn their signs", () => {
  fc.assert(
    fc.property(side, side, (before, after) => {
      const totals = (flip: boolean): MovementTotal[] =>
        [before, after].map(({ people, requests }, i) => ({
          ...{ people, requests, uncertain: 0 },
          current: (i === 1) !== flip,
        }));
      const moved = movement([...rowsOf(before.rows, false), ...rowsOf(after.rows, true)], totals(false));
      expectExact(moved);
      const back = movement([...rowsOf(before.rows, true), ...rowsOf(after.rows, false)], totals(true));
      for (const name of MOVE_NAMES) {
        expect(Number(back.parts[name])).toBeCloseTo(-Number(moved.parts[name]), 9);
      }
    }),
  );
});

test("rate, mix and volume are what walking from one window to the other adds up to", () => {
  // Not by logarithmic means: factors grow evenly from before to after, and what each adds on the way is summed up.
  const same = fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), side)
    .map(([units, price, before]) => ({
      before,
      after: {
        people: before.people + units,
        requests: before.requests * 2 + price,
        rows: before.rows.map((row, i) => ({
          ...row,
          units: row.units * (((units + i) % 5) + 1) + i,
          price: row.price + ((price * i) % 7) * 1_000,
        })),
      },
    }));
  fc.assert(
    fc.property(same, ({ before, after }) => {
      const factors = ({ people, requests, rows }: typeof before, { model, kind, tier }: Usage) => {
        const isToken = kind !== "web_search";
        const tokens = rows.filter((row) => row.kind !== "web_search");
        const sum = (of: Usage[]) => of.reduce((all, row) => all + row.units, 0);
        const ofModel = tokens.filter((row) => row.model === model);
        const isOut = (row: { kind: string }) => row.kind === "output";
        const direction = ofModel.filter((row) => isOut(row) === isOut({ kind }));
        const ofKind = direction.filter((row) => row.kind === kind);
        const own = rows.find((row) => row.model === model && row.kind === kind && row.tier === tier);
        const units = own?.units ?? 0;
        return [
          people,
          requests / people,
          (isToken ? sum(tokens) : units) / requests,
          ...(isToken
            ? [
                sum(ofModel) / sum(tokens),
                sum(direction) / sum(ofModel),
                sum(ofKind) / sum(direction),
                units / sum(ofKind),
              ]
            : [1, 1, 1, 1]),
          (own?.price ?? 0) * 1e-12,
        ];
      };
      const expected = MOVE_NAMES.map(() => 0);
      for (const row of before.rows) {
        const [from, to] = [factors(before, row), factors(after, row)];
        const STEPS = 200;
        for (let step = 0; step < STEPS; step++) {
          // The middle of the step, where each factor is on its even way.
          const at = (step + 0.5) / STEPS;
          const cost = from.reduce((all, f, i) => all * f ** (1 - at) * (to[i] ?? 0) ** at, 1);
          for (const i of from.keys())
            expected[i] = (expected[i] ?? 0) + (cost * Math.log((to[i] ?? 0) / (from[i] ?? 1))) / STEPS;
        }
      }
      const moved = movement(
        [...rowsOf(before.rows, false), ...rowsOf(after.rows, true)],
        [before, after].map(({ people, requests }, i) => ({
          people,
          requests,
          uncertain: 0,
          current: i === 1,
        })),
      );
      // Steps are no curve, and each part of a row is rounded to 1e-12 USD, what is left going to the largest.
      const size = expected.reduce((all, part) => all + Math.abs(part), 0);
      const allowed = size * 1e-4 + before.rows.length * MOVE_NAMES.length * 1e-12;
      for (const [i, name] of MOVE_NAMES.entries())
        expect(Math.abs(Number(moved.parts[name]) - (expected[i] ?? 0))).toBeLessThan(allowed);
    }),
    { numRuns: 50 },
  );
});

describe("of records", () => {
  const NOW = new Date("2026-11-21T12:00:00Z");
  let runner: ReportRunner;
  beforeAll(async () => {
    const { url } = await testDatabase();
    const sql = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    const one = { owner: "ann", model: "m1", input: 100, output: 10 };
    const calls: RequestFacts[] = [
      { at: "2026-11-10T09:00:00Z", ...one, cost: "0.3", price: "input 100 0.002|output 10 0.01|list:m1" },
      // Dearer by half, and twice as many.
      { at: "2026-11-20T09:00:00Z", ...one, cost: "0.45", price: "input 100 0.003|output 10 0.015|list:m1" },
      { at: "2026-11-20T09:10:00Z", ...one, cost: "0.45", price: "input 100 0.003|output 10 0.015|list:m1" },
      // Its provider told more than the list; no one's lane; and a call of unknown cost.
      { at: "2026-11-20T09:20:00Z", model: "m2", cost: "2", basis: "vendor", price: "input 10 0.1|list:m2" },
      { at: "2026-11-20T09:30:00Z", channel: "subscription", cost: "9", price: "input 9 1|list:m2" },
      { at: "2026-11-20T09:40:00Z", model: "m2", cost: null },
    ];
    await seed(sql, "default", { requests: calls });
    await sql.end();
    const engines = await reportEngines(url);
    await engines.wrote("default");
    runner = engines.runner();
  });

  const moved = async (filters = {}) => {
    const spec = checkSpec({
      ...{ source: "requests", dimensions: [], measures: ["cost_usd"], filters },
      ...{ range: "7d", compare: "previous_period", view: "table" },
    });
    const [result] = await runner.runAll([{ spec, moves: true }], NOW);
    if (!result?.rate_mix_volume) throw new Error("no answer");
    expectExact(result.rate_mix_volume);
    expect(Number(result.rate_mix_volume.current_usd)).toBe(result.total.current?.cost_usd ?? Number.NaN);
    return result.rate_mix_volume;
  };

  test("the same calls at a higher price are rate, and more of them volume", async () => {
    const { rows, parts, ...found } = await moved({ model: ["m1"] });
    // ln 3 = ln 2 + ln 1.5, of 0.6.
    const part = (ratio: number) => ((0.6 * Math.log(ratio)) / Math.log(3)).toFixed(12);
    expect(found).toEqual({
      ...{ previous_usd: "0.3", current_usd: "0.9", delta_usd: "0.6", floor: false },
      ...{ volume: part(2), mix: "0", rate: part(1.5) },
    });
    expect(parts.requests_per_person).toBe(part(2));
    expect(rows.map(({ model, kind, delta_usd }) => [model, kind, delta_usd])).toEqual([
      ["m1", "input", "0.4"],
      ["m1", "output", "0.2"],
    ]);
  });

  test("a new model is mix, what a provider told beyond units is other, and unknown costs are a floor", async () => {
    const { rows, floor, delta_usd } = await moved();
    expect([floor, delta_usd]).toEqual([true, "2.6"]);
    const [first, second] = rows.filter(({ model }) => model === "m2");
    expect(first).toMatchObject({ kind: "input", tier: "(none)", mix: "1", rate: "0", volume: "0" });
    expect(second).toMatchObject({ kind: "other", current_units: "1", volume: "1", mix: "0", rate: "0" });
  });
});
