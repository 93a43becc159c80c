import { expect, test } from "bun:test";
import fc from "fast-check";
import { dueOn, lastDue, weekBefore } from "#gateway/digest/digest-of.ts";
import { WEEKDAYS } from "#shared/settings.ts";

test.each([
  ["2026-11-23T07:00:00.000Z", "monday", 7, "2026-11-23T07:00:00.000Z"],
  ["2026-11-23T06:59:59.999Z", "monday", 7, "2026-11-16T07:00:00.000Z"],
  ["2026-11-22T23:00:00.000Z", "monday", 0, "2026-11-16T00:00:00.000Z"],
  ["2026-11-22T23:00:00.000Z", "sunday", 23, "2026-11-22T23:00:00.000Z"],
  ["2027-01-01T00:00:00.000Z", "thursday", 23, "2026-12-31T23:00:00.000Z"],
  ["2028-03-01T05:00:00.000Z", "tuesday", 5, "2028-02-29T05:00:00.000Z"],
] as const)("at %s the last digest of %s at %p was due at %s", (now, day, hour, expected) => {
  expect(lastDue(new Date(now), { day, hour }).toISOString()).toBe(expected);
});

test("at any time the last due instant is within the week before, on its day and at its hour", () => {
  const now = fc.date({ min: new Date("2020-01-01"), max: new Date("2040-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(now, fc.constantFrom(...WEEKDAYS), fc.integer({ min: 0, max: 23 }), (at, day, hour) => {
      const due = lastDue(at, { day, hour });
      expect(at.getTime() - due.getTime()).toBeWithin(0, 7 * 86_400_000);
      expect([WEEKDAYS[due.getUTCDay()], due.getUTCHours(), due.getUTCMinutes()]).toEqual([day, hour, 0]);
      expect(dueOn(due)).toBe(due.toISOString().slice(0, 10));
    }),
  );
});

test("a digest is of the seven whole days before the day on which it is due", () => {
  const week = weekBefore(new Date("2026-11-23T07:00:00Z"));
  expect([week.fromMs, week.toMs].map((ms) => new Date(ms).toISOString())).toEqual([
    "2026-11-16T00:00:00.000Z",
    "2026-11-23T00:00:00.000Z",
  ]);
});
