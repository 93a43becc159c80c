import { describe, expect, test } from "bun:test";
import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import {
  agentEstimateSpec,
  DEFAULT_FRAME,
  frameOf,
  itemsOf,
  type NamedReport,
  readQuery,
  subscriptionSpec,
} from "#gateway/reports/request.ts";
import { checkSpec } from "#gateway/reports/spec.ts";

function read(query: string, saved: readonly NamedReport[] = []) {
  const asked = readQuery(new URLSearchParams(query));
  return { frame: frameOf(asked), items: itemsOf(asked, saved), format: asked.format };
}

describe("the query of GET /v1/reports", () => {
  test("asks for all built-in reports of the last 30 days when empty", () => {
    const { frame, items } = read("");
    expect(frame).toEqual({ range: "30d", compare: "none" });
    expect(items.map(({ id }) => id)).toEqual(CATALOGUE.map(({ id }) => id));
  });

  test("every built-in report is one that its source can answer", () => {
    for (const { spec } of read("range=mtd&compare=previous_period").items) {
      expect(checkSpec(spec)).toMatchObject({ range: "mtd", compare: "previous_period", filters: {} });
    }
  });

  test("from and to are a range, and either alone leaves the other open", () => {
    expect(read("from=2026-01-01&to=2026-02-01").frame.range).toEqual({
      from: "2026-01-01",
      to: "2026-02-01",
    });
    expect(read("to=2026-02-01").frame.range).toEqual({ from: null, to: "2026-02-01" });
  });

  test("filters take several values, separated by commas or repeated", () => {
    const { items } = read("id=spend-by-model&filter[client]=cli,ide&filter%5Bclient%5D=sdk&filter[tag]=x");
    expect(items).toHaveLength(1);
    expect(items[0]?.spec).toMatchObject({ filters: { client: ["cli", "ide", "sdk"], tag: ["x"] } });
  });

  test.each(["id=spend-by-day&id=spend-by-model", "id=spend-by-day,spend-by-model"])(
    "%s chooses reports, in the catalogue's order",
    (query) => {
      expect(read(query).items.map(({ id }) => id)).toEqual(["spend-by-model", "spend-by-day"]);
    },
  );

  test.each([
    ["range=9d", "range: must be one of 7d, 30d, mtd, last_month"],
    ["range=7d&from=2026-01-01", "range: cannot be combined with from or to"],
    ["compare=year", "compare: must be one of none, previous_period"],
    ["id=spend-by-day,", "id: must be the id of a saved report"],
    ["id=nope", "id: must be the id of a saved report, or one of spend-overview"],
    ["filter[colour]=red", "filter: must name one of client, model"],
    ["filter[client]=a,,b", "filter[client]: each value must have 1 to 200 characters"],
    ["filter[client]=", "filter[client]: each value must have 1 to 200 characters"],
    [`filter[client]=${"x".repeat(201)}`, "filter[client]: each value must have 1 to 200 characters"],
    [`filter[client]=${Array(51).fill("x")}`, "filter[client]: has more than 50 values"],
    ["rnage=7d", "query: known parameters are range, from, to, compare, id, format and filter[dimension]"],
    ["filter[__proto__]=x", "filter: must name one of"],
    ["filter[day]=yesterday", "filter[day]: must be a day, such as 2026-11-20"],
    ["format=xlsx", "format: must be json or csv"],
    ["range=7d&range=30d", "range: is given twice"],
    [Array.from({ length: 51 }, (_, i) => `id=r${i}`).join("&"), "id: is given for more than 50 reports"],
  ])("%s is refused", (query, message) => {
    expect(() => read(query)).toThrow(message);
  });
});

test("the two results that every payload has can always be answered", () => {
  for (const spec of [subscriptionSpec(DEFAULT_FRAME), agentEstimateSpec(DEFAULT_FRAME)]) {
    expect(checkSpec(structuredClone(spec))).toEqual(spec);
  }
});
