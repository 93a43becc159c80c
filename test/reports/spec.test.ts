import { describe, expect, test } from "bun:test";
import { AGGREGATES } from "#gateway/reports/aggregates.ts";
import { aggregatesOf } from "#gateway/reports/measures.ts";
import { sourceOf } from "#gateway/reports/sources.ts";
import { asksForLane, checkSpec } from "#gateway/reports/spec.ts";
import { DIMENSIONS, MEASURES, SOURCES, type Spec } from "#shared/report.ts";

const SPEC: Spec = {
  source: "requests",
  dimensions: ["client"],
  measures: ["requests"],
  filters: {},
  range: "7d",
  compare: "none",
  view: "table",
};

const fifty = Array.from({ length: 50 }, (_, i) => `v${i}`);

describe("a bad spec is refused by its member and the reason", () => {
  test.each<[Record<string, unknown>, string]>([
    [{ source: "tokens" }, "spec.source: expected one of requests, tool_calls, agent_metrics, outcomes"],
    [
      { measures: ["requests", "cost_usd", "merged_prs"] },
      "spec.measures[2]: source requests has no measure merged_prs",
    ],
    [
      { dimensions: ["client", "repository"] },
      "spec.dimensions[1]: source requests has no dimension repository",
    ],
    [{ filters: { tool: ["x"] } }, "spec.filters.tool: source requests has no dimension tool"],
    [{ source: "outcomes" }, "spec.measures[0]: source outcomes has no measure requests"],
    [
      { dimensions: ["client", "model", "day", "team"] },
      "spec.dimensions: expected array length to be less or equal to 3",
    ],
    [{ measures: [] }, "spec.measures: expected array length to be greater or equal to 1"],
    [
      { measures: Array(41).fill("requests") },
      "spec.measures: expected array length to be less or equal to 40",
    ],
    [{ filters: { client: [""] } }, "spec.filters.client[0]: expected text of 1 to 200 characters"],
    [
      { filters: { client: ["x".repeat(201)] } },
      "spec.filters.client[0]: expected text of 1 to 200 characters",
    ],
    [
      { filters: { client: [...fifty, "one more"] } },
      "spec.filters.client: expected array length to be less or equal to 50",
    ],
    [{ filters: { client: ["a", "b\0"] } }, "spec.filters.client[1]: must not contain a NUL character"],
    [{ filters: { colour: ["x"] } }, "spec.filters.colour: unexpected property"],
    [{ filters: { ["x".repeat(300)]: [] } }, "spec: unexpected property"],
    [{ filters: { tool: [] } }, "spec.filters.tool: source requests has no dimension tool"],
    [{ view: undefined }, "spec.view: expected required property"],
    [{ limit: 5 }, "spec.limit: unexpected property"],
  ])("with its place in the spec", (over, message) => {
    // As it comes in: a member that is undefined is absent.
    const spec = JSON.parse(JSON.stringify({ ...SPEC, ...over }));
    expect(() => checkSpec(spec)).toThrow(message);
  });

  test("a range that is neither a name nor an object with from and to", () => {
    for (const range of ["9d", { from: null }, { from: 1, to: null }, null]) {
      expect(() => checkSpec({ ...SPEC, range })).toThrow(/^spec\.range/);
    }
  });

  test("a spec that is no object", () => {
    for (const value of [null, [], "spec", 1, undefined]) expect(() => checkSpec(value)).toThrow(/^spec/);
  });
});

test("the limits themselves are accepted", () => {
  const spec = {
    ...SPEC,
    measures: Array(40).fill("requests"),
    filters: { client: fifty, model: ["x".repeat(200)] },
  };
  expect(checkSpec(spec)).toEqual(spec as Spec);
});

test("an empty list of a filter limits nothing", () => {
  const checked = checkSpec({ ...SPEC, filters: { client: ["ide"], model: [] } });
  expect(checked.filters).toEqual({ client: ["ide"] });
});

describe("the tables", () => {
  test("every measure and every dimension of the contract belongs to a source", () => {
    const all = SOURCES.map(sourceOf);
    expect(MEASURES.filter((name) => !all.some(({ measures }) => measures.includes(name)))).toEqual([]);
    expect(DIMENSIONS.filter((name) => !all.some(({ dimensions }) => dimensions.includes(name)))).toEqual([]);
  });

  test("every aggregate is some measure's", () => {
    // Lower bounds need the one, decompositions the other.
    const others = ["uncertain", "priced_users"];
    expect(aggregatesOf(MEASURES)).toEqual(
      Object.keys(AGGREGATES).filter((name) => !others.includes(name)) as never,
    );
  });
});

test.each<[Spec["filters"], boolean]>([
  [{ channel: ["subscription"] }, true],
  [{ channel: ["subscription", "subscription"], client: ["cli"] }, true],
  [{ channel: ["subscription", "api"] }, false],
  [{ channel: ["api"] }, false],
  [{}, false],
])("filters %p ask for the subscription lane's list price: %p", (filters, expected) => {
  expect(asksForLane({ source: "requests", filters })).toBe(expected);
});
