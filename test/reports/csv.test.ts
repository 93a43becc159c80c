import { expect, test } from "bun:test";
import { toCsv } from "#gateway/reports/csv.ts";
import type { Result, Row } from "#shared/report.ts";

const row = (groups: string[], over: Partial<Row> = {}): Row => ({
  groups,
  current: { cost_usd: 1.5, requests: 3 },
  previous: null,
  delta: null,
  floor: false,
  previousFloor: false,
  ...over,
});

const result = (over: Partial<Result>): Result => ({
  spec: {
    source: "requests",
    dimensions: ["client"],
    measures: ["cost_usd", "requests"],
    filters: {},
    range: "7d",
    compare: "none",
    view: "table",
  },
  window: { from: null, to: "2026-11-21T12:00:00.000Z" },
  previousWindow: null,
  rows: [],
  total: row([]),
  decomposition: null,
  coverage: null,
  ...over,
});

test("groups, measures and floor, with the total last", () => {
  const rows = [row(["cli"], { floor: true }), row(["a,b"], { current: { cost_usd: null, requests: 0 } })];
  expect(toCsv(result({ rows }))).toBe(
    'client,cost_usd,requests,floor\r\ncli,1.5,3,true\r\n"a,b",,0,false\r\ntotal,1.5,3,false\r\n',
  );
});

test("a comparison adds the previous value and the difference to each measure", () => {
  const compared = result({
    previousWindow: { from: null, to: null },
    total: row([], { previous: { cost_usd: 2, requests: 4 }, delta: { cost_usd: -0.5, requests: -1 } }),
  });
  expect(toCsv(compared)).toBe(
    "client,cost_usd,previous_cost_usd,delta_cost_usd,requests,previous_requests,delta_requests,floor,previous_floor\r\n" +
      "total,1.5,2,-0.5,3,4,-1,false,false\r\n",
  );
});

test.each(["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\r=1", "＝1"])(
  "a label like %p cannot become a formula",
  (label) => {
    const [, line = ""] = toCsv(result({ rows: [row([label])] })).split("\r\n", 2);
    expect(line.replace(/^"/, "").startsWith("'")).toBe(true);
  },
);

test.each(["a;=1+1", "a\t=1+1"])("%p cannot become a second cell where cells part elsewhere", (label) => {
  expect(toCsv(result({ rows: [row([label])] }))).toContain(`"${label}",1.5`);
});

test("quotes and line ends stay inside their cell", () => {
  expect(toCsv(result({ rows: [row(['say "hi"\nbye'])] }))).toContain('"say ""hi""\nbye",1.5');
});

test("a negative figure stays a number", () => {
  const rows = [row(["cli"], { current: { cost_usd: -1, requests: 1 } })];
  expect(toCsv(result({ rows }))).toContain("\r\ncli,-1,1,");
});
