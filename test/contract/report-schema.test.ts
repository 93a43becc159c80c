import { describe, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import type { Result, Row } from "#shared/report.ts";
import { REPORT_JSON_SCHEMA, ReportPayload } from "#shared/report-payload.ts";
import { fits } from "#shared/schema.ts";

// As a client would take it: the text of the answer, compiled strictly as draft 2020-12.
const published = JSON.parse(JSON.stringify(REPORT_JSON_SCHEMA));
const valid = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(published);

const row: Row = {
  groups: ["cli"],
  current: { cost_usd: 1.5, requests: null },
  previous: null,
  delta: null,
  floor: true,
  previousFloor: false,
};
const result: Result = {
  spec: {
    source: "requests",
    dimensions: ["client"],
    measures: ["cost_usd", "requests"],
    filters: { channel: ["subscription"] },
    range: { from: "2026-11-01", to: null },
    compare: "previous_period",
    view: "waterfall",
  },
  window: { from: null, to: "2026-11-21T12:00:00.000Z" },
  previousWindow: { from: null, to: null },
  rows: [row],
  total: { ...row, groups: [] },
  decomposition: {
    previousUsd: 1,
    currentUsd: 2,
    deltaUsd: 1,
    parts: {
      users: 0,
      requestsPerUser: 0,
      inputTokensPerRequest: 0,
      outputTokensPerRequest: 0,
      pricePerToken: 0,
    },
    unmodelledUsd: 1,
    floor: false,
  },
  coverage: { dimensionsSince: null, rowsBefore: 0, previousRowsBefore: null },
};
const payload: ReportPayload = {
  reports: [
    { id: "a", title: "A", description: "", result },
    { id: "b", title: "B", description: "", result: null },
  ],
  subscription: result,
  agentEstimate: { ...result, previousWindow: null, decomposition: null, coverage: null, rows: [] },
};

/** Every object in the payload, with the path that leads to it. */
function objects(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.entries(value).flatMap(([name, member]) => objects(member, [...path, name]));
  return Array.isArray(value) ? below : [path, ...below];
}

function changed(path: string[], change: (object: Record<string, unknown>) => void): unknown {
  const copy = structuredClone(payload);
  let at: Record<string, unknown> = copy;
  for (const step of path) at = at[step] as Record<string, unknown>;
  change(at);
  return copy;
}

const member = (path: string[]) =>
  path.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], payload) as Record<
    string,
    unknown
  >;

/** Objects whose members are names of measures or dimensions, of which any may be there. */
const isChoice = (path: string[]) => ["current", "filters"].includes(path.at(-1) ?? "");

const both = (value: unknown) => [valid(value), fits(ReportPayload, value)];

describe("the published schema and the code's own check agree", () => {
  test("on a payload that uses everything", () => {
    expect(both(payload)).toEqual([true, true]);
  });

  test("that no object anywhere admits a member more", () => {
    for (const path of objects(payload)) {
      const more = changed(path, (object) => {
        object["extra"] = null;
      });
      expect([path.join("."), ...both(more)]).toEqual([path.join("."), false, false]);
    }
  });

  test("that every member is required", () => {
    for (const path of objects(payload).filter((it) => !isChoice(it))) {
      for (const name of Object.keys(member(path))) {
        const less = changed(path, (object) => delete object[name]);
        expect([...path, name, ...both(less)]).toEqual([...path, name, false, false]);
      }
    }
  });

  test.each<[string, string[], string, unknown]>([
    ["a source of another name", ["subscription", "spec"], "source", "prompts"],
    ["three dimensions", ["subscription", "spec"], "dimensions", ["day", "week", "month"]],
    ["no measure", ["subscription", "spec"], "measures", []],
    ["41 measures", ["subscription", "spec"], "measures", Array(41).fill("requests")],
    ["51 filter values", ["subscription", "spec", "filters"], "channel", Array(51).fill("x")],
    ["an empty filter value", ["subscription", "spec", "filters"], "channel", [""]],
    ["a filter value of 201 characters", ["subscription", "spec", "filters"], "channel", ["x".repeat(201)]],
    ["a range of another name", ["subscription", "spec"], "range", "90d"],
    ["a figure that is text", ["subscription", "total", "current"], "cost_usd", "1.5"],
    ["a missing result", [], "subscription", null],
    ["an unknown decomposition", ["subscription", "decomposition"], "deltaUsd", null],
  ])("that %s is not valid", (_, path, name, value) => {
    expect(both(changed(path, (object) => Object.assign(object, { [name]: value })))).toEqual([false, false]);
  });
});

test("the schema says which draft it is", () => {
  expect(published.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
});
