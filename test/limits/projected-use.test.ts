import { describe, expect, test } from "bun:test";
import { parsePico } from "#gateway/limits/money.ts";
import { projectedUse } from "#gateway/limits/projected-use.ts";

const NOVEMBER = { from: "2026-11-01", to: "2026-12-01" };
const projected = (usd: string, at: string) => projectedUse(parsePico(usd), NOVEMBER, new Date(at));

describe("the use at the end of a period", () => {
  test("is that of the time gone, continued", () => {
    expect(projected("12.5", "2026-11-16T00:00:00Z")).toBe(parsePico("25"));
    expect(projected("0", "2026-11-16T00:00:00Z")).toBe(0n);
  });

  test("is not known in the first tenth", () => {
    expect(projected("12.5", "2026-11-03T23:59:59.999Z")).toBeNull();
    expect(projected("12.5", "2026-11-04T00:00:00Z")).toBe(parsePico("125"));
  });
});
