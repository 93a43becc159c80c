import { expect, test } from "bun:test";
import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import { type Ask, NO_TASKS } from "#gateway/reports/context.ts";
import { CLICKHOUSE, POSTGRES } from "#gateway/reports/engines.ts";
import { planReport } from "#gateway/reports/plan.ts";
import { agentEstimateSpec, subscriptionSpec } from "#gateway/reports/request.ts";
import type { Spec } from "#shared/report.ts";

const FRAME = { range: "30d", compare: "previous_period" } as const;
const TO_MS = Date.UTC(2026, 10, 21, 12, 34);
const DAY_MS = 86_400_000;

const ask = (spec: Spec, over: Partial<Ask> = {}): Ask => ({
  engine: POSTGRES,
  tasks: NO_TASKS,
  places: null,
  orgId: "default",
  spec,
  reverted: ["1#1"],
  periods: {
    current: { fromMs: Date.UTC(2026, 9, 23), toMs: TO_MS },
    previous: { fromMs: Date.UTC(2026, 8, 23), toMs: TO_MS - 30 * DAY_MS },
  },
  published: null,
  reach: { rolledToMs: Date.UTC(2026, 10, 21, 12, 15), rawFromMs: null, hoursFromMs: null, markedMs: [] },
  byOwner: false,
  timeZone: "UTC",
  ...over,
});

const BUILT_IN: [id: string, spec: Spec][] = [
  ...CATALOGUE.map(({ id, spec }): [string, Spec] => [id, { ...spec, ...FRAME, filters: {} }]),
  ["subscription", subscriptionSpec(FRAME)],
  ["agent estimate", agentEstimateSpec(FRAME)],
];

test.each(BUILT_IN)("the statement of %s over rollups is this, and under 16 kB", (_, spec) => {
  const { text, params } = planReport(ask(spec));
  expect(text.length).toBeLessThan(16_000);
  expect(`${text}\n-- ${JSON.stringify(params)}`).toMatchSnapshot();
});

const byDayAndTag: Spec = {
  source: "requests",
  dimensions: ["day", "tag"],
  measures: ["cost_usd", "cost_per_user"],
  filters: { client: ["cli", "ide"], subject: ["ann"] },
  range: "7d",
  compare: "previous_period",
  view: "table",
};

test("the statement of a filtered report by day and tag is this, over cells and over single records", () => {
  expect(planReport(ask(byDayAndTag)).text).toMatchSnapshot();
  expect(planReport(ask(byDayAndTag, { reach: null })).text).toMatchSnapshot();
});

test("the statement of that report for ClickHouse is this", () => {
  const { text, params } = planReport(ask(byDayAndTag, { reach: null, engine: CLICKHOUSE }));
  expect(`${text}\n-- ${JSON.stringify(params)}`).toMatchSnapshot();
});

test("what a client wrote is in the parameters and never in the text", () => {
  const hostile = "'; drop table requests; --";
  const spec = { ...byDayAndTag, filters: { client: [hostile], session: [hostile] } };
  for (const over of [{}, { reach: null }, { reach: null, engine: CLICKHOUSE }]) {
    const { text, params } = planReport(ask(spec, over));
    expect(text).not.toContain("drop table");
    expect(params).toContainEqual([hostile]);
  }
});

test("an unbounded window reads everything before its end", () => {
  const periods = { current: { fromMs: null, toMs: 0 }, previous: null };
  const { text, params } = planReport(ask(byDayAndTag, { reach: null, periods }));
  expect(text).not.toContain("started_at >=");
  expect(params).toContain("1970-01-01T00:00:00.000Z");
});

test("chosen values of the dimension asked for are sums, not cells, unless something is counted distinctly", () => {
  const chosen: Spec = { ...byDayAndTag, dimensions: ["day", "model"], filters: { model: ["m-1", "m-2"] } };
  const read = (measures: Spec["measures"]) => {
    const { text, isLong } = planReport(ask({ ...chosen, measures }));
    return { sums: text.includes("from rollup_sums"), manyCells: isLong };
  };
  expect(read(["cost_usd"])).toEqual({ sums: true, manyCells: false });
  expect(read(["cost_usd", "users"])).toEqual({ sums: false, manyCells: true });
});
