import { expect, test } from "bun:test";
import fc from "fast-check";
import { coverIn } from "#gateway/reports/buckets/published.ts";
import { type Cover, coverOf, type Span } from "#gateway/reports/rollup/cover.ts";

const ms = (text: string) => Date.parse(text);
const text = ({ fromMs, toMs }: Span) =>
  [fromMs, toMs].map((at) => (Number.isFinite(at) ? new Date(at).toISOString().slice(5, 16) : "…")).join(" ");

/** Sums, with the midnight at which those of days end and those of hours begin. */
const sumsText = ({ sums }: Cover) =>
  sums && `${text({ ...sums, toMs: sums.midnightMs })}, ${text({ ...sums, fromMs: sums.midnightMs })}`;

const period = { fromMs: ms("2026-03-01T22:30:00Z"), toMs: ms("2026-03-05T09:20:00Z") };
const rolledToMs = ms("2026-03-05T08:15:00Z");
const survey = { rolledToMs, rawFromMs: null, hoursFromMs: null, markedMs: [] };

test("a period is sums from its first midnight on, cells before it, and single records at its edges and where nothing is rolled up", () => {
  const cover = coverOf(period, survey, "hours");
  expect(sumsText(cover)).toBe("03-02T00:00 03-05T00:00, 03-05T00:00 03-05T08:00");
  expect(cover.days).toEqual([]);
  expect(cover.hours.map(text)).toEqual(["03-01T23:00 03-02T00:00", "03-05T08:00 03-05T08:15"]);
  expect(cover.raw.map(text)).toEqual(["03-01T22:30 03-01T23:00", "03-05T08:15 03-05T09:20"]);
});

test("without sums it is cells of days, the last of them as far as it is summed up", () => {
  const cover = coverOf(period, survey, null);
  expect([cover.sums, cover.days.map(text)]).toEqual([null, ["03-02T00:00 03-05T08:15"]]);
  const early = coverOf({ ...period, toMs: ms("2026-03-04T09:20:00Z") }, survey, null);
  expect(early.days.map(text)).toEqual(["03-02T00:00 03-04T00:00"]);
  expect(early.hours.map(text)).toContain("03-04T00:00 03-04T09:00");
});

test("an hour that changed is read as single records, and the rest of its day as hours", () => {
  const cover = coverOf(period, { ...survey, markedMs: [ms("2026-03-02T10:00:00Z")] }, "hours");
  expect(sumsText(cover)).toBe("03-03T00:00 03-05T00:00, 03-05T00:00 03-05T08:00");
  expect(cover.hours.map(text)).toEqual([
    "03-01T23:00 03-02T10:00",
    "03-02T11:00 03-03T00:00",
    "03-05T08:00 03-05T08:15",
  ]);
  expect(cover.raw.map(text)).toContain("03-02T10:00 03-02T11:00");
});

test("an hour whose single records are gone belongs to the period in which it begins, beside what came late for it", () => {
  const gone = {
    ...survey,
    rawFromMs: ms("2026-03-04T00:00:00Z"),
    markedMs: [ms("2026-03-02T10:00:00Z")],
  };
  const cover = coverOf({ fromMs: period.fromMs, toMs: ms("2026-03-02T12:20:00Z") }, gone, "hours");
  expect(sumsText(cover)).toBe("03-02T00:00 03-02T00:00, 03-02T00:00 03-02T10:00");
  expect(cover.hours.map(text)).toEqual(["03-01T23:00 03-02T00:00", "03-02T10:00 03-02T13:00"]);
  expect(cover.raw.map(text)).toEqual(["03-02T10:00 03-02T11:00"]);
});

test("without a bound, and with nothing rolled up, all is read once", () => {
  const ever = { fromMs: null, toMs: Number.POSITIVE_INFINITY };
  const nowhere = { rolledToMs: Number.NEGATIVE_INFINITY };
  const never = coverOf(ever, { ...survey, ...nowhere }, "hours");
  expect([never.sums, never.days, never.hours, never.raw.map(text)]).toEqual([null, [], [], ["… …"]]);
  const cover = coverOf(ever, survey, "hours");
  expect(sumsText(cover)).toBe("… 03-05T00:00, 03-05T00:00 03-05T08:00");
  expect(cover.raw.map(text)).toEqual(["03-05T08:15 …"]);
});

test("every instant of a period is read in exactly one place, and no other instant", () => {
  const minutes = (from: number, to: number) =>
    fc.integer({ min: from * 60, max: to * 60 }).map((minute) => minute * 60_000);
  fc.assert(
    fc.property(
      fc.tuple(minutes(0, 200), minutes(0, 200)).filter(([a, b]) => a !== b),
      minutes(0, 220),
      fc.uniqueArray(fc.integer({ min: 0, max: 200 }), { maxLength: 4 }),
      minutes(0, 200),
      fc.constantFrom(null, "hours" as const, "days" as const),
      (bounds, rolledTo, marked, at, bySums) => {
        const [fromMs = 0, toMs = 0] = [...bounds].sort((a, b) => a - b);
        const rolledToMs = Math.floor(rolledTo / 900_000) * 900_000;
        const markedMs = marked
          .map((hour) => hour * 3_600_000)
          .filter((hour) => hour < rolledToMs)
          .sort((a, b) => a - b);
        const { sums, days, hours, raw } = coverOf(
          { fromMs, toMs },
          { rolledToMs, rawFromMs: null, hoursFromMs: null, markedMs },
          bySums,
        );
        const places = [...(sums ? [sums] : []), ...days, ...hours, ...raw].filter(
          (span) => at >= span.fromMs && at < span.toMs,
        );
        expect(places).toHaveLength(at >= fromMs && at < toMs ? 1 : 0);
      },
    ),
  );
});

test("records between sums in ClickHouse are one span, however many of their hours have none", () => {
  const at = (level: "hour" | "day", hours: number, ready: boolean) => {
    const atMs = ms("2026-03-01T00:00:00Z") + hours * 3_600_000;
    return { level, atMs, gen: "1", ready };
  };
  const nights = Array.from({ length: 1000 }, (_, n) => at("hour", 48 + 3 * n, false));
  const buckets = [at("hour", 5, false), at("day", 24, true), ...nights];
  const of = (toMs: number) =>
    coverIn({ fromMs: null, toMs }, { buckets, droppedMs: null, hoursAlone: false });
  expect(of(ms("2026-03-04T10:00:00Z"))?.raw.map(text)).toEqual([
    "03-01T05:00 03-02T00:00",
    "03-03T00:00 03-04T10:00",
  ]);
  expect(of(Number.POSITIVE_INFINITY)?.raw.map(text)).toEqual(["03-01T05:00 03-02T00:00", "03-03T00:00 …"]);
  const hours = [at("hour", 1, false), at("hour", 3, true), at("hour", 7, false)];
  const cover = coverIn(
    { fromMs: null, toMs: ms("2026-03-01T07:20:00Z") },
    { buckets: hours, droppedMs: null, hoursAlone: true },
  );
  expect(cover?.raw.map(text)).toEqual(["03-01T01:00 03-01T03:00", "03-01T07:00 03-01T07:20"]);
});
