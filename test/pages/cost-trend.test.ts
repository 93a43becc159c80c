import { expect, test } from "bun:test";
import { longTimeGroup } from "#gateway/pages/parts/dates.ts";
import { verdict } from "#gateway/pages/pull-requests/cost-trend.tsx";
import { whyOf } from "#gateway/pages/pull-requests/dearest.tsx";
import type { DearMergeView } from "#shared/admin/pull-requests.ts";
import type { Figures, Row } from "#shared/report.ts";

const row = (current: Figures | null, previous: Figures | null): { total: Row } => ({
  total: { groups: [], current, previous, delta: null, floor: false, previousFloor: false },
});
const figures = (median: number, half: number, n: number): Figures => ({
  ...{ median_cost_per_pr: median, median_low_usd: median - half, median_high_usd: median + half },
  costed_prs: n,
});
const few = (n: number): Figures => ({
  ...{ median_cost_per_pr: 9, median_low_usd: null, median_high_usd: null, costed_prs: n },
});

test("two merges are no trend, and neither are medians whose intervals overlap", () => {
  expect(verdict(row(few(2), figures(1, 0.1, 40)))).toBe(
    "2 merges of known cost: from 8 on, the median has an interval.",
  );
  expect(verdict(row(figures(3, 1, 30), few(2)))).toEndWith(
    "The period before has 2 merges, too few to compare with.",
  );
  expect(verdict(row(figures(3, 1, 30), figures(2, 0.5, 30)))).toEndWith(
    "the intervals overlap, so this is no trend.",
  );
  expect(verdict(row(figures(3, 0.4, 30), figures(2, 0.5, 30)))).toContain("It rose: it was $2.00 before");
  expect(verdict(row(figures(1, 0.4, 30), figures(2, 0.5, 30)))).toContain("It fell: it was $2.00 before");
});

test("a dear merge names its model, and what there was far more of than usual", () => {
  const merge = {
    session_cost_usd: "8",
    ...{ model: "claude-opus-5", model_cost_usd: "6" },
    factors: [
      { name: "calls", value: 120, usual: 60 },
      { name: "sessions", value: 1, usual: 1 },
      { name: "subagents", value: 9, usual: 0 },
      { name: "retries", value: 4, usual: null },
      { name: "context", value: 50_000.4, usual: 40_000 },
    ],
  } as Partial<DearMergeView> as DearMergeView;
  expect(whyOf(merge).replaceAll(/\s/g, " ")).toBe(
    "75 % by claude-opus-5 · 9 sub-agents, usually 0 · 120 calls, usually 60",
  );
  expect(whyOf({ ...merge, model_cost_usd: null, factors: [] })).toBe(
    "Nothing unusual is known of its calls.",
  );
});

test("a size has no leading zeros, which are for its order alone", () => {
  expect(longTimeGroup("pr_lines", "0011 to 50")).toBe("11 to 50");
  expect(longTimeGroup("pr_files", "00 to 1")).toBe("0 to 1");
  expect(longTimeGroup("session", "007 to 8")).toBe("007 to 8");
});
