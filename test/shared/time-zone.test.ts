import { expect, test } from "bun:test";
import { dayIn, hasWholeHours, instantOfDay, isTimeZone } from "#shared/time-zone.ts";

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

test.each([
  ["UTC", "2026-11-27", "2026-11-27T00:00:00.000Z"],
  ["Europe/Berlin", "2026-11-27", "2026-11-26T23:00:00.000Z"],
  ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z"],
  ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00.000Z"],
  ["America/Los_Angeles", "2026-11-01", "2026-11-01T07:00:00.000Z"],
  ["America/Los_Angeles", "2026-11-02", "2026-11-02T08:00:00.000Z"],
  ["Asia/Kolkata", "2026-11-27", "2026-11-26T18:30:00.000Z"],
  // Clocks there went from 23:59 to 01:00.
  ["America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"],
  // This day began, and clocks were turned back from 01:00 to midnight.
  ["Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00.000Z"],
  ["Pacific/Kiritimati", "2026-11-27", "2026-11-26T10:00:00.000Z"],
])("in %s the day %s begins at %s", (zone, text, instant) => {
  const ms = instantOfDay(day(text), zone);
  expect(new Date(ms).toISOString()).toBe(instant);
  expect([dayIn(ms, zone), dayIn(ms - 1, zone) < text]).toEqual([text, true]);
});

test.each([
  ["Europe/Berlin", true],
  ["Etc/GMT+5", true],
  ["+05:30", false],
  ["Nowhere/City", false],
  ["europe/berlin", false],
  ["Europe/Berlin'; drop table requests", false],
  ["", false],
])("%p is a time zone: %p", (name, is) => expect(isTimeZone(name)).toBe(is));

test.each([
  ["Europe/Berlin", true],
  ["Asia/Kolkata", false],
  ["Asia/Kathmandu", false],
  // Half an hour of summer time, so half of the year.
  ["Australia/Lord_Howe", false],
])("clocks in %s differ from UTC by whole hours: %p", (zone, is) => {
  expect(hasWholeHours(zone, day("2026-01-01"), day("2026-12-31"))).toBe(is);
});
