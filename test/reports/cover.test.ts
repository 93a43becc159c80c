import { expect, test } from "bun:test";
import fc from "fast-check";
import { coverOf, mondayOf, type Span } from "#gateway/reports/rollup/cover.ts";
import { BUCKET_FLOORS_MS } from "#gateway/reports/rollup/latencies.ts";

const ms = (text: string) => Date.parse(text);
const text = ({ fromMs, toMs }: Span) =>
  [fromMs, toMs].map((at) => (Number.isFinite(at) ? new Date(at).toISOString().slice(5, 16) : "…")).join(" ");

const period = { fromMs: ms("2026-03-01T22:30:00Z"), toMs: ms("2026-03-05T09:20:00Z") };
const rolledToMs = ms("2026-03-05T08:00:00Z");
const survey = { rolledToMs, summedToMs: rolledToMs, rawFromMs: null, markedMs: [] };

test("a period is sums from its first midnight on, cells before it, and single records at its edges and where nothing is rolled up", () => {
  const cover = coverOf(period, survey, true);
  expect(cover.sums && text(cover.sums)).toBe("03-02T00:00 03-05T08:00");
  expect([cover.days, cover.hours.map(text)]).toEqual([[], ["03-01T23:00 03-02T00:00"]]);
  expect(cover.raw.map(text)).toEqual(["03-01T22:30 03-01T23:00", "03-05T08:00 03-05T09:20"]);
});

test("without sums it is cells of days, the last of them as far as it is summed up", () => {
  const cover = coverOf(period, survey, false);
  expect([cover.sums, cover.days.map(text)]).toEqual([null, ["03-02T00:00 03-05T08:00"]]);
  const early = coverOf({ ...period, toMs: ms("2026-03-04T09:20:00Z") }, survey, false);
  expect(early.days.map(text)).toEqual(["03-02T00:00 03-04T00:00"]);
  expect(early.hours.map(text)).toContain("03-04T00:00 03-04T09:00");
});

test("what is not made of its hours yet is read as hours", () => {
  const cover = coverOf(period, { ...survey, summedToMs: ms("2026-03-03T00:00:00Z") }, true);
  expect(cover.sums && text(cover.sums)).toBe("03-02T00:00 03-03T00:00");
  expect(cover.hours.map(text)).toContain("03-03T00:00 03-05T08:00");
  const none = coverOf(period, { ...survey, summedToMs: Number.NEGATIVE_INFINITY }, true);
  expect([none.sums, none.days, none.hours.map(text)]).toEqual([null, [], ["03-01T23:00 03-05T08:00"]]);
});

test("an hour that changed is read as single records, and the rest of its day as hours", () => {
  const cover = coverOf(period, { ...survey, markedMs: [ms("2026-03-02T10:00:00Z")] }, true);
  expect(cover.sums && text(cover.sums)).toBe("03-03T00:00 03-05T08:00");
  expect(cover.hours.map(text)).toEqual(["03-01T23:00 03-02T10:00", "03-02T11:00 03-03T00:00"]);
  expect(cover.raw.map(text)).toContain("03-02T10:00 03-02T11:00");
});

test("an hour whose single records are gone belongs to the period in which it begins, beside what came late for it", () => {
  const gone = {
    ...survey,
    rawFromMs: ms("2026-03-04T00:00:00Z"),
    markedMs: [ms("2026-03-02T10:00:00Z")],
  };
  const cover = coverOf({ fromMs: period.fromMs, toMs: ms("2026-03-02T12:20:00Z") }, gone, true);
  expect(cover.sums && text(cover.sums)).toBe("03-02T00:00 03-02T10:00");
  expect(cover.hours.map(text)).toEqual(["03-01T23:00 03-02T00:00", "03-02T10:00 03-02T13:00"]);
  expect(cover.raw.map(text)).toEqual(["03-02T10:00 03-02T11:00"]);
});

test("of an hour that a period cuts the quarters are read that are known, and of one that changed none", () => {
  const cut = { fromMs: period.fromMs, toMs: ms("2026-03-04T09:47:00Z") };
  const hour = ms("2026-03-04T09:00:00Z");
  const edge = { quarteredMs: [hour], firstsMs: [], who: false };
  const cover = coverOf(cut, survey, true, edge);
  expect(cover.quarters && text(cover.quarters)).toBe("03-04T09:00 03-04T09:45");
  expect(cover.raw.map(text)).toContain("03-04T09:45 03-04T09:47");
  const first = coverOf({ ...cut, toMs: ms("2026-03-04T09:07:00Z") }, survey, true, edge);
  expect([first.quarters, first.raw.map(text)]).toEqual([
    null,
    ["03-01T22:30 03-01T23:00", "03-04T09:00 03-04T09:07"],
  ]);
  expect(coverOf(cut, { ...survey, markedMs: [hour] }, true, edge).quarters).toBeNull();
});

test("who was active is told to the end of a period of sums alone, and else to where single records begin", () => {
  const cut = { fromMs: ms("2026-03-02T00:00:00Z"), toMs: ms("2026-03-04T09:47:00Z") };
  const [hour, day] = [ms("2026-03-04T09:00:00Z"), ms("2026-03-04T00:00:00Z")];
  const edge = { quarteredMs: [hour], firstsMs: [day], who: true };
  const placesOf = (period = cut, known = edge, reached: { markedMs?: number[] } = {}) => {
    const { sums, quarters, hours, raw, told } = coverOf(period, { ...survey, ...reached }, true, known);
    return {
      sums: sums && text(sums),
      quarters: quarters && text(quarters),
      told: told && text(told),
      hours: hours.map(text),
      raw: raw.map(text),
    };
  };
  const told = {
    sums: "03-02T00:00 03-04T09:00",
    quarters: "03-04T09:00 03-04T09:45",
    told: "03-04T09:45 03-04T09:47",
    hours: [],
    raw: [],
  };
  expect(placesOf()).toEqual(told);
  expect(placesOf(cut, { ...edge, quarteredMs: [] })).toEqual({
    ...told,
    quarters: null,
    told: "03-04T09:00 03-04T09:47",
  });
  // Of a day of which it is not known the hours are read.
  expect(placesOf(cut, { ...edge, firstsMs: [] })).toMatchObject({
    sums: "03-02T00:00 03-04T00:00",
    quarters: null,
    told: null,
    hours: ["03-04T00:00 03-04T09:00"],
  });
  expect(placesOf({ ...cut, fromMs: cut.fromMs + 1 })).toMatchObject({ quarters: null, told: null });
  expect(placesOf(cut, edge, { markedMs: [hour] })).toMatchObject({
    told: null,
    raw: ["03-04T09:00 03-04T09:47"],
  });
  expect(placesOf({ ...cut, toMs: rolledToMs + 1 })).toMatchObject({
    sums: "03-02T00:00 03-05T00:00",
    told: null,
  });
  const now = { ...edge, firstsMs: [ms("2026-03-05T00:00:00Z")] };
  expect(placesOf({ ...cut, toMs: rolledToMs + 1 }, now)).toMatchObject({
    sums: "03-02T00:00 03-05T08:00",
    told: null,
  });
  expect(placesOf({ ...cut, toMs: ms("2026-03-04T00:00:01Z") })).toMatchObject({
    sums: "03-02T00:00 03-04T00:00",
    told: "03-04T00:00 03-04T00:00",
  });
});

test("without a bound, and with nothing rolled up, all is read once", () => {
  const ever = { fromMs: null, toMs: Number.POSITIVE_INFINITY };
  const nowhere = { rolledToMs: Number.NEGATIVE_INFINITY, summedToMs: Number.NEGATIVE_INFINITY };
  const never = coverOf(ever, { ...survey, ...nowhere }, true);
  expect([never.sums, never.days, never.hours, never.raw.map(text)]).toEqual([null, [], [], ["… …"]]);
  const cover = coverOf(ever, survey, true);
  expect(cover.sums && text(cover.sums)).toBe("… 03-05T08:00");
  expect(cover.raw.map(text)).toEqual(["03-05T08:00 …"]);
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
      fc.integer({ min: 0, max: 200 }),
      fc.boolean(),
      fc.boolean(),
      fc.record({ who: fc.boolean(), known: fc.boolean() }),
      (bounds, rolledTo, marked, at, behind, withSums, quartered, { who, known }) => {
        const [fromMs = 0, toMs = 0] = [...bounds].sort((a, b) => a - b);
        const rolledToMs = Math.floor(rolledTo / 900_000) * 900_000;
        const summedToMs =
          behind > 100 ? rolledToMs : rolledToMs - (rolledToMs % 3_600_000) - behind * 3_600_000;
        const markedMs = marked
          .map((hour) => hour * 3_600_000)
          .filter((hour) => hour < rolledToMs)
          .sort((a, b) => a - b);
        const cutMs = Math.floor(toMs / 3_600_000) * 3_600_000;
        const dayMs = 24 * 3_600_000;
        const { sums, quarters, days, hours, raw, told } = coverOf(
          { fromMs, toMs },
          { rolledToMs, summedToMs, rawFromMs: null, markedMs },
          withSums,
          {
            quarteredMs: quartered && cutMs < rolledToMs ? [cutMs] : [],
            firstsMs: known ? Array.from({ length: 10 }, (_, day) => day * dayMs) : [],
            who,
          },
        );
        const places = [
          ...(sums ? [sums] : []),
          ...(quarters ? [quarters] : []),
          ...days,
          ...hours,
          ...raw,
          ...(told ? [told] : []),
        ].filter((span) => at >= span.fromMs && at < span.toMs);
        expect(places).toHaveLength(at >= fromMs && at < toMs ? 1 : 0);
      },
    ),
  );
});

test("a bucket of latency is at most 2^¼ wide", () => {
  expect(BUCKET_FLOORS_MS).toHaveLength(76);
  for (let i = 1; i < BUCKET_FLOORS_MS.length - 1; i++) {
    const [floor = 0, next = 0] = BUCKET_FLOORS_MS.slice(i, i + 2);
    expect((next - 1) / floor).toBeLessThanOrEqual(2 ** 0.25);
  }
});

test.each([
  ["2026-11-16T00:00:00Z", "2026-11-16"],
  ["2026-11-22T23:59:59.999Z", "2026-11-16"],
  ["2026-11-23T00:00:00Z", "2026-11-23"],
  ["2027-01-01T10:00:00Z", "2026-12-28"],
  ["1969-12-31T10:00:00Z", "1969-12-29"],
  ["0001-01-01T00:00:00Z", "0001-01-01"],
])("the week of %s begins on %s", (instant, monday) => {
  expect(new Date(mondayOf(Date.parse(instant))).toISOString().slice(0, 10)).toBe(monday);
});
