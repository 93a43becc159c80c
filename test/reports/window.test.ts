import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { periodsOf, windowOf } from "#gateway/reports/window.ts";
import { RANGES, type Range } from "#shared/report.ts";

/** `from/to` and, after it, `from/to` of the period before. */
function windows(range: Range, now: string, timeZone = "UTC"): string[] {
  const { current, previous } = periodsOf(range, "previous_period", { now: new Date(now), timeZone });
  return [current, previous].map((period) => {
    const window = period && windowOf(period);
    return window
      ? `${window.from} / ${window.to}`.replaceAll(":00.000Z", "Z").replaceAll("T00:00Z", "")
      : "none";
  });
}

describe("whole calendar months compare with as many calendar months", () => {
  const NOW = "2026-11-21T12:00:00Z";
  test.each<[{ from: string; to: string }, string, string]>([
    [{ from: "2026-11-01", to: "2026-11-30" }, "2026-11-01 / 2026-12-01", "2026-10-01 / 2026-11-01"],
    [{ from: "2026-03-01", to: "2026-03-31" }, "2026-03-01 / 2026-04-01", "2026-02-01 / 2026-03-01"],
    [{ from: "2024-03-01", to: "2024-03-31" }, "2024-03-01 / 2024-04-01", "2024-02-01 / 2024-03-01"],
    [{ from: "2026-01-01", to: "2026-03-31" }, "2026-01-01 / 2026-04-01", "2025-10-01 / 2026-01-01"],
    [{ from: "2025-01-01", to: "2025-12-31" }, "2025-01-01 / 2026-01-01", "2024-01-01 / 2025-01-01"],
    [
      { from: "2026-11-01T00:00:00Z", to: "2026-12-01T00:00:00Z" },
      "2026-11-01 / 2026-12-01",
      "2026-10-01 / 2026-11-01",
    ],
    // Anything else is shifted by its own length.
    [{ from: "2026-11-01", to: "2026-11-29" }, "2026-11-01 / 2026-11-30", "2026-10-03 / 2026-11-01"],
    [{ from: "2026-11-02", to: "2026-12-01" }, "2026-11-02 / 2026-12-02", "2026-10-03 / 2026-11-02"],
    [
      { from: "2026-11-01T01:00:00Z", to: "2026-12-01T01:00:00Z" },
      "2026-11-01T01:00Z / 2026-12-01T01:00Z",
      "2026-10-02T01:00Z / 2026-11-01T01:00Z",
    ],
  ])("%p", (range, current, previous) => {
    expect(windows(range, NOW)).toEqual([current, previous]);
  });

  test("of the time zone that is asked for", () => {
    expect(windows({ from: "2026-11-01", to: "2026-11-30" }, NOW, "Europe/Berlin")).toEqual([
      "2026-10-31T23:00Z / 2026-11-30T23:00Z",
      "2026-09-30T22:00Z / 2026-10-31T23:00Z",
    ]);
  });
});

describe("named ranges", () => {
  test.each<[Range, string, string, string]>([
    ["7d", "2026-11-21T12:00:00Z", "2026-11-15 / 2026-11-21T12:00Z", "2026-11-08 / 2026-11-14T12:00Z"],
    ["7d", "2026-01-03T06:00:00Z", "2025-12-28 / 2026-01-03T06:00Z", "2025-12-21 / 2025-12-27T06:00Z"],
    ["7d", "2026-11-21T00:00:00Z", "2026-11-15 / 2026-11-21", "2026-11-08 / 2026-11-14"],
    ["30d", "2026-11-21T12:00:00Z", "2026-10-23 / 2026-11-21T12:00Z", "2026-09-23 / 2026-10-22T12:00Z"],
    ["30d", "2024-03-01T01:00:00Z", "2024-02-01 / 2024-03-01T01:00Z", "2024-01-02 / 2024-01-31T01:00Z"],
    ["mtd", "2026-11-21T12:00:00Z", "2026-11-01 / 2026-11-21T12:00Z", "2026-10-01 / 2026-10-21T12:00Z"],
    ["mtd", "2026-01-15T08:00:00Z", "2026-01-01 / 2026-01-15T08:00Z", "2025-12-01 / 2025-12-15T08:00Z"],
    // No 31st, 30th or 29th before: the whole month before, and not a day of this one.
    ["mtd", "2026-12-31T10:00:00Z", "2026-12-01 / 2026-12-31T10:00Z", "2026-11-01 / 2026-12-01"],
    ["mtd", "2026-03-30T10:00:00Z", "2026-03-01 / 2026-03-30T10:00Z", "2026-02-01 / 2026-03-01"],
    ["mtd", "2024-03-29T10:00:00Z", "2024-03-01 / 2024-03-29T10:00Z", "2024-02-01 / 2024-02-29T10:00Z"],
    ["mtd", "2026-03-01T00:00:00Z", "2026-03-01 / 2026-03-01", "2026-02-01 / 2026-02-01"],
    ["mtd", "2026-01-31T23:00:00Z", "2026-01-01 / 2026-01-31T23:00Z", "2025-12-01 / 2025-12-31T23:00Z"],
    ["mtd", "2026-05-31T10:00:00Z", "2026-05-01 / 2026-05-31T10:00Z", "2026-04-01 / 2026-05-01"],
    ["mtd", "2026-08-31T10:00:00Z", "2026-08-01 / 2026-08-31T10:00Z", "2026-07-01 / 2026-07-31T10:00Z"],
    ["mtd", "2024-03-31T10:00:00Z", "2024-03-01 / 2024-03-31T10:00Z", "2024-02-01 / 2024-03-01"],
    ["mtd", "2026-02-28T23:00:00Z", "2026-02-01 / 2026-02-28T23:00Z", "2026-01-01 / 2026-01-28T23:00Z"],
    ["7d", "2024-03-02T12:00:00Z", "2024-02-25 / 2024-03-02T12:00Z", "2024-02-18 / 2024-02-24T12:00Z"],
    ["7d", "2100-03-01T12:00:00Z", "2100-02-23 / 2100-03-01T12:00Z", "2100-02-16 / 2100-02-22T12:00Z"],
    ["30d", "2025-03-01T12:00:00Z", "2025-01-31 / 2025-03-01T12:00Z", "2025-01-01 / 2025-01-30T12:00Z"],
    ["30d", "2026-01-10T00:00:00Z", "2025-12-12 / 2026-01-10", "2025-11-12 / 2025-12-11"],
    ["last_month", "2024-03-01T00:00:00Z", "2024-02-01 / 2024-03-01", "2024-01-01 / 2024-02-01"],
    ["last_month", "2100-03-15T00:00:00Z", "2100-02-01 / 2100-03-01", "2100-01-01 / 2100-02-01"],
    ["last_month", "2026-12-31T23:00:00Z", "2026-11-01 / 2026-12-01", "2026-10-01 / 2026-11-01"],
    ["last_month", "2026-11-21T12:00:00Z", "2026-10-01 / 2026-11-01", "2026-09-01 / 2026-10-01"],
    ["last_month", "2026-01-31T23:59:59Z", "2025-12-01 / 2026-01-01", "2025-11-01 / 2025-12-01"],
    ["last_month", "2024-03-31T12:00:00Z", "2024-02-01 / 2024-03-01", "2024-01-01 / 2024-02-01"],
  ])("%p at %p", (range, now, current, previous) => {
    expect(windows(range, now)).toEqual([current, previous]);
  });
});

describe("ranges from … to", () => {
  const now = "2026-11-21T12:00:00Z";

  test.each<[string | null, string | null, string, string]>([
    // A date as the end includes its day.
    ["2026-11-01", "2026-11-10", "2026-11-01 / 2026-11-11", "2026-10-22 / 2026-11-01"],
    ["2026-11-20", "2026-11-20", "2026-11-20 / 2026-11-21", "2026-11-19 / 2026-11-20"],
    ["2024-02-28", "2024-02-29", "2024-02-28 / 2024-03-01", "2024-02-26 / 2024-02-28"],
    // Any offset, told in UTC.
    [
      "2026-11-20T02:00:00+02:00",
      "2026-11-20T05:30:00-05:30",
      "2026-11-20 / 2026-11-20T11:00Z",
      "2026-11-19T13:00Z / 2026-11-20",
    ],
    ["2026-11-21", null, "2026-11-21 / 2026-11-21T12:00Z", "2026-11-20T12:00Z / 2026-11-21"],
    [null, "2026-11-01", "null / 2026-11-02", "none"],
    [null, null, "null / 2026-11-21T12:00Z", "none"],
  ])("%p to %p", (from, to, current, previous) => {
    expect(windows({ from, to }, now)).toEqual([current, previous]);
  });

  test("parts of a second are kept to the millisecond", () => {
    const { current } = periodsOf({ from: "2026-11-20T00:00:00.1239z", to: null }, "none", {
      now: new Date(now),
    });
    expect(windowOf(current).from).toBe("2026-11-20T00:00:00.123Z");
  });

  test.each([
    "2026-02-30",
    "2025-02-29",
    "2026-13-01",
    "2026-11-31",
    "2026-1-1",
    "yesterday",
    "2026-11-20T24:00:00Z",
    "2026-11-20T10:60:00Z",
    "2026-11-20T10:00:00",
    "2026-11-20T10:00Z",
    "2026-11-20T10:00:00+25:00",
    "2026-11-20 10:00:00Z",
    "1969-12-31",
    "3000-01-01",
    "",
    "2026-11-20T10:00:00ZT",
  ])("%p is refused by the name of its member, without being repeated", (text) => {
    for (const member of ["from", "to"] as const) {
      const range = { from: "2026-01-01", to: null, [member]: text };
      expect(() => periodsOf(range, "none", { now: new Date(now) })).toThrow(
        new RegExp(`^spec\\.range\\.${member}: must be a date`),
      );
    }
  });

  test.each([
    ["2026-11-10", "2026-11-08"],
    ["2026-11-10T00:00:00Z", "2026-11-10T00:00:00Z"],
    ["2026-11-22", null],
  ])("from %p to %p is refused: it ends before it begins", (from, to) => {
    expect(() => periodsOf({ from, to }, "none", { now: new Date(now) })).toThrow(
      "spec.range.from: must be before the end.",
    );
  });
});

test("without a comparison there is no previous window", () => {
  expect(periodsOf("7d", "none", { now: new Date() }).previous).toBeNull();
});

test("the previous period never overlaps the current one, and both fit RFC 3339", () => {
  const nowOf = fc.date({ min: new Date("1971-01-01"), max: new Date("2999-12-31"), noInvalidDate: true });
  const custom = fc
    .tuple(nowOf, nowOf)
    .filter(([a, b]) => a < b)
    .map(([a, b]) => ({ from: a.toISOString(), to: b.toISOString() }));
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...RANGES), custom), nowOf, (range, now) => {
      const { current, previous } = periodsOf(range, "previous_period", { now });
      if (!previous || current.fromMs === null || previous.fromMs === null) return false;
      const written = [windowOf(current), windowOf(previous)].flatMap(({ from, to }) => [from, to]);
      return (
        previous.fromMs <= previous.toMs &&
        previous.toMs <= current.fromMs &&
        written.every((text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text ?? ""))
      );
    }),
  );
});

describe("in a time zone", () => {
  test.each<[Range, string, string, string, string]>([
    [
      "mtd",
      "Europe/Berlin",
      "2026-11-21T12:00:00Z",
      "2026-10-31T23:00Z / 2026-11-21T12:00Z",
      "2026-09-30T22:00Z / 2026-10-21T11:00Z",
    ],
    [
      "last_month",
      "America/Los_Angeles",
      "2026-12-01T07:00:00Z",
      "2026-10-01T07:00Z / 2026-11-01T07:00Z",
      "2026-09-01T07:00Z / 2026-10-01T07:00Z",
    ],
    // Summer time ended within: the day before has an hour more.
    [
      "7d",
      "Europe/Berlin",
      "2026-10-31T12:00:00Z",
      "2026-10-24T22:00Z / 2026-10-31T12:00Z",
      "2026-10-17T22:00Z / 2026-10-24T11:00Z",
    ],
    [
      "7d",
      "Asia/Kolkata",
      "2026-11-21T20:00:00Z",
      "2026-11-15T18:30Z / 2026-11-21T20:00Z",
      "2026-11-08T18:30Z / 2026-11-14T20:00Z",
    ],
    [
      { from: "2026-11-01", to: "2026-11-02" },
      "America/Los_Angeles",
      "2026-12-01T00:00:00Z",
      "2026-11-01T07:00Z / 2026-11-03T08:00Z",
      "2026-10-30T06:00Z / 2026-11-01T07:00Z",
    ],
    [
      { from: "2026-11-01T00:00:00Z", to: null },
      "Asia/Tokyo",
      "2026-11-02T00:00:00Z",
      "2026-11-01 / 2026-11-02",
      "2026-10-31 / 2026-11-01",
    ],
  ])("%j in %s at %s", (range, timeZone, now, current, previous) => {
    expect(windows(range, now, timeZone)).toEqual([current, previous]);
  });
});
