import { expect, test } from "bun:test";
import { isFaultRun } from "#test/support/fault-run.ts";
import { figure } from "#test/support/figure.ts";
import { type Outcome, simulate } from "#test/support/simulation/simulate.ts";

// The recorder's own code for segments, orphans and marks, and the limits' own decisions, under courses of events that
// follow from a seed. A failure names its seed: `simulate(seed)` repeats it exactly.

const SEEDS = Number(process.env["SIMULATION_SEEDS"] ?? (isFaultRun ? 10_000 : 2_000));

test("no record is lost or doubled and no budget is over its promise, whatever dies, is lost, is away or jumps", () => {
  const totals = { answered: 0, opened: 0, deaths: 0, alone: 0 };
  const broken: { seed: number; faults: Outcome["faults"] }[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { answered, opened, deaths, alone, faults } = simulate(seed);
    totals.answered += answered;
    totals.opened += opened;
    totals.deaths += deaths;
    totals.alone += alone;
    if (faults.length > 0) broken.push({ seed, faults });
  }
  figure(
    `${SEEDS} seeds, ${totals.opened} calls sent, ${totals.answered} answered, ${totals.alone} admitted in an outage, ${totals.deaths} deaths, ${broken.length} broken promises`,
  );
  expect(broken.slice(0, 5)).toEqual([]);
  // A simulation in which nothing happens proves nothing.
  expect([totals.deaths > SEEDS / 2, totals.answered > SEEDS, totals.alone > SEEDS]).toEqual([
    true,
    true,
    true,
  ]);
});
