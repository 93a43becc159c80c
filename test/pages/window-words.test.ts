import { describe, expect, test } from "bun:test";
import { inWords } from "#gateway/pages/parts/charts/causes.ts";
import { daysUntilNow } from "#gateway/pages/parts/frame-controls.tsx";
import { previousWords, windowWords } from "#gateway/pages/parts/window-words.ts";
import type { Decomposition, Range } from "#shared/report.ts";

const NOW = Date.parse("2026-11-27T12:06:00Z");
const plain = (text: string) => text.replaceAll(/\s/gu, " ");
const words = (from: string | null, to: string | null, range: Range = { from, to }) =>
  plain(windowWords({ spec: { range }, window: { from, to } }, NOW));

describe("a window reads as what it is", () => {
  test.each([
    ["2026-10-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z", "October"],
    ["2025-10-01T00:00:00.000Z", "2025-11-01T00:00:00.000Z", "October 2025"],
    ["2026-07-01T00:00:00.000Z", "2026-10-01T00:00:00.000Z", "July – September"],
    ["2026-10-01T00:00:00.000Z", "2026-10-28T00:00:00.000Z", "Oct 1 – 27"],
    ["2026-10-27T00:00:00.000Z", "2026-10-28T00:00:00.000Z", "Oct 27"],
    ["2025-12-30T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "Dec 30, 2025 – Jan 1, 2026"],
    ["2026-10-01T00:00:00.000Z", "2026-10-27T12:06:00.000Z", "Oct 1 – Oct 27, 12:06 PM UTC"],
    ["2026-10-01T06:30:00.000Z", "2026-10-02T00:00:00.000Z", "Oct 1, 6:30 AM – Oct 2, 12:00 AM UTC"],
    [null, "2026-10-28T00:00:00.000Z", "First record – Oct 27"],
  ])("%s to %s: %s", (from, to, text) => expect(words(from, to)).toBe(text));

  test.each([
    ["2026-11-01T00:00:00.000Z", "mtd", "November to date"],
    ["2026-11-21T00:00:00.000Z", "7d", "Nov 21 – now"],
    ["2026-11-27T00:00:00.000Z", { from: "2026-11-27", to: null }, "Nov 27 to date"],
    [null, { from: null, to: null }, "First record – now"],
  ] as const)("from %s to now: %j is %s", (from, range, text) =>
    expect(words(from, "2026-11-27T12:06:00.000Z", range)).toBe(text),
  );

  test("what the current month is compared with is no whole month", () => {
    const previousWindow = { from: "2026-10-01T00:00:00.000Z", to: "2026-10-27T12:06:00.000Z" };
    expect(plain(previousWords({ previousWindow }, NOW))).toBe("Oct 1 – Oct 27, 12:06 PM UTC");
    expect(previousWords({ previousWindow: null }, NOW)).toBe("the period before");
  });
});

test.each([
  ["2026-11-27T12:00:00Z", "UTC", "2026-11-27", "2026-08-30", "2026-10-01"],
  ["2026-12-31T16:00:00Z", "Asia/Tokyo", "2027-01-01", "2026-10-04", "2027-01-01"],
  ["2026-03-31T23:00:00Z", "UTC", "2026-03-31", "2026-01-01", "2026-01-01"],
])("at %s in %s it is %s, 90 days begin on %s and the quarter on %s", (now, zone, today, days, quarter) => {
  expect(daysUntilNow(zone, Date.parse(now))).toEqual({
    Today: { from: today, to: today },
    "Last 90 days": { from: days },
    "This quarter": { from: quarter },
  });
});

describe("why the cost changed", () => {
  const of = (previousUsd: number, currentUsd: number): Decomposition => ({
    previousUsd,
    currentUsd,
    deltaUsd: currentUsd - previousUsd,
    parts: {
      users: 0,
      requestsPerUser: 0,
      inputTokensPerRequest: 0,
      outputTokensPerRequest: 0,
      pricePerToken: 0,
    },
    unmodelledUsd: currentUsd - previousUsd,
    floor: false,
  });

  test("nothing before is its own sentence, and so is nothing since", () => {
    expect(inWords(of(0, 0.18), "October")).toBe(
      "Nothing was spent before (October), so there is nothing to explain.",
    );
    expect(inWords(of(0.18, 0), "October")).toBe(
      "$0.1800 less than before (October): nothing was spent since.",
    );
    expect(inWords(of(0, 0), "October")).toBe("Nothing was spent, neither now nor before (October).");
  });

  test("what the parts leave is called unexplained, for whatever reason", () => {
    expect(inWords(of(1, 3), "October")).toBe(
      "$2.00 more than before (October): not explained by people, calls and tokens (+$2.00).",
    );
  });
});
