import { describe, expect, test } from "bun:test";
import { type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { closed, faultsOf, nullable, oneOf } from "#shared/schema.ts";

const SHARED = new URL("../../shared/", import.meta.url).pathname;

const Range = Type.Union([
  oneOf(["7d", "30d"]),
  closed({ from: nullable(Type.String()), to: Type.String() }),
]);
const Body = closed({ range: Range });

const pathsOf = (range: unknown) => faultsOf(Body, { range }).map(({ path }) => path);

describe("the faults of a value of several forms", () => {
  test("are those of the form that it has", () => {
    expect(pathsOf({ from: null })).toEqual(["/range/to"]);
    expect(pathsOf({ from: "2026-11-01", to: "2026-11-02", until: 1 })).toEqual(["/range/until"]);
    expect(pathsOf({ from: 1, to: "2026-11-02" })).toEqual(["/range/from"]);
  });

  test("are those of the first form where it has none", () => {
    expect(faultsOf(Body, { range: "9d" })).toEqual([{ path: "/range", message: "Expected one of 7d, 30d" }]);
    expect(pathsOf(7)).toEqual(["/range"]);
  });
});

/** Schemas of text with a pattern, anywhere in a value that a module exports. */
function patternsIn(value: unknown, seen: Set<unknown>): TSchema[] {
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const inner = Object.values(value).flatMap((it) => patternsIn(it, seen));
  return "pattern" in value && TypeGuard.IsSchema(value) ? [value, ...inner] : inner;
}

test("no fault of text quotes a regular expression: each pattern has words", async () => {
  const seen = new Set<unknown>();
  const found: TSchema[] = [];
  for (const file of new Bun.Glob("**/*.ts").scanSync(SHARED)) {
    found.push(...patternsIn(await import(`${SHARED}${file}`), seen));
  }
  expect(found.length).toBeGreaterThan(20);
  const told = found.map((schema) => [schema["pattern"], faultsOf(schema, "\n\0 ")[0]?.message ?? ""]);
  const unworded = /another form|match|\^/;
  expect(told.filter(([, message]) => unworded.test(message))).toEqual([]);
});
