import { describe, expect, test } from "bun:test";
import { budgetUse, fullest, projectedUse } from "#gateway/limits/budget-use.ts";
import { ownLimitHeaders } from "#gateway/limits/claude-limit-headers.ts";
import { parsePico } from "#gateway/limits/money.ts";

const PERIOD = { from: "2026-11-01", to: "2026-12-01" };
const ENDS_MS = Date.UTC(2026, 11, 1);
const use = (spent: string, budget: string) => budgetUse(parsePico(spent), parsePico(budget), PERIOD);

test.each([
  ["0", "10", 0],
  ["7.5", "10", 0.75],
  ["7.519999", "10", 0.751],
  ["9.9999999", "10", 0.999],
  ["11", "10", 0.999],
  ["0", "0", 0.999],
])("%s USD of %s is %d, never all of it", (spent, budget, utilization) => {
  expect(use(spent, budget)).toEqual({ utilization, endsMs: ENDS_MS });
});

test("the fullest budget counts, and none is none", () => {
  expect(fullest([use("1", "10"), undefined, use("1", "2"), use("0", "1")])?.utilization).toBe(0.5);
  expect(fullest([undefined])).toBeUndefined();
});

test.each([
  ["0.2", "allowed", undefined],
  ["7.5", "allowed", undefined],
  ["7.51", "allowed_warning", "0.75"],
  ["9.51", "allowed_warning", "0.95"],
])("of %s USD out of 10, Claude Code is told %s", (spent, status, threshold) => {
  const headers: Record<string, string> = ownLimitHeaders("claude_code", use(spent, "10")) ?? {};
  expect(headers["anthropic-ratelimit-unified-status"]).toBe(status);
  expect(headers["anthropic-ratelimit-unified-overage-status"]).toBe(status);
  expect(headers["anthropic-ratelimit-unified-reset"]).toBe(String(ENDS_MS / 1000));
  expect(headers["anthropic-ratelimit-unified-overage-surpassed-threshold"]).toBe(threshold as string);
});

test("only a key of Claude Code's own sign-in gets them", () => {
  expect(ownLimitHeaders("tallygate", use("9", "10"))).toBeNull();
  expect(ownLimitHeaders(null, use("9", "10"))).toBeNull();
  expect(ownLimitHeaders("claude_code", undefined)).toEqual({});
});

const projected = (usd: string, at: string) => projectedUse(parsePico(usd), PERIOD, new Date(at));

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
