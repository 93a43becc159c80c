import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { closed, faultsOf, nullable, oneOf } from "#shared/schema.ts";

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
