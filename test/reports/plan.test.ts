import { expect, test } from "bun:test";
import { type Ask, planReport } from "#gateway/reports/plan.ts";
import type { Spec } from "#shared/report.ts";

const ask = (over: Partial<Spec>, periods: Partial<Ask["periods"]> = {}): Ask => ({
  orgId: "default",
  reverted: ["1#1"],
  survey: null,
  periods: {
    current: { fromMs: Date.UTC(2026, 10, 15), toMs: Date.UTC(2026, 10, 21, 12) },
    previous: { fromMs: Date.UTC(2026, 10, 8), toMs: Date.UTC(2026, 10, 14, 12) },
    ...periods,
  },
  spec: {
    source: "requests",
    dimensions: ["day", "tag"],
    measures: ["cost_usd", "cost_per_user"],
    filters: { client: ["cli", "ide"], subject: ["ann"] },
    range: "7d",
    compare: "previous_period",
    view: "table",
    ...over,
  },
});

test("the planned SQL of a report by day and tag is this", () => {
  expect(planReport(ask({}))).toMatchSnapshot();
});

test("the planned SQL of cost per merged pull request is this", () => {
  const outcomes = ask({
    source: "outcomes",
    dimensions: ["repository"],
    measures: ["cost_per_merged_pr", "reverted_prs"],
    filters: {},
  });
  expect(planReport(outcomes)).toMatchSnapshot();
});

test("what a client wrote is in the parameters and never in the text", () => {
  const hostile = "'; drop table requests; --";
  const { rows, total, coverage } = planReport(ask({ filters: { client: [hostile], session: [hostile] } }));
  for (const query of [rows, total, coverage]) {
    expect(query?.text).not.toContain("drop table");
    expect(query?.params).toContainEqual([hostile]);
  }
});

test("without dimensions there are no rows to ask for, and with lasting labels no coverage", () => {
  const { rows, coverage } = planReport(ask({ dimensions: [] }));
  expect([rows, coverage]).toEqual([null, null]);
});

test("the total is asked for without the groups, so it is never a sum of rows", () => {
  const { rows, total } = planReport(ask({}));
  expect(rows?.text).toContain("cross join lateral");
  expect(total.text).not.toContain("cross join lateral");
});

test("an unbounded window reads everything before its end", () => {
  const { total } = planReport(ask({}, { current: { fromMs: null, toMs: 0 }, previous: null }));
  expect(total.text).not.toContain("started_at >=");
  expect(total.params).toContain("1970-01-01T00:00:00.000Z");
});
