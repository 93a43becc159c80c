import { expect, test } from "bun:test";
import fc from "fast-check";
import { type CoverageEvent, coverageWindows } from "#shared/coverage.ts";

const day = (n: number) => `2026-11-${String(n).padStart(2, "0")}T00:00:00.000Z`;
const event = (n: number, kind: CoverageEvent["kind"], installationId = 1) => ({
  at: day(n),
  kind,
  installationId,
});

test("a repository is seen from when it was added until it was removed, and not while suspended", () => {
  const events = [
    event(1, "added"),
    event(3, "suspended"),
    event(5, "unsuspended"),
    event(7, "removed"),
    event(9, "added"),
  ];
  expect(coverageWindows(events)).toEqual([
    { from: day(1), until: day(3), end: "suspended" },
    { from: day(5), until: day(7), end: "removed" },
    { from: day(9), until: null, end: null },
  ]);
});

test("what was added before a removal of the App is not seen after its next installation until it is added", () => {
  const events = [event(1, "added"), event(2, "uninstalled"), event(3, "unsuspended"), event(4, "added", 2)];
  expect(coverageWindows(events)).toEqual([
    { from: day(1), until: day(2), end: "uninstalled" },
    { from: day(4), until: null, end: null },
  ]);
});

test("a transfer from one installation to another in one moment leaves no two windows open", () => {
  const events = [event(1, "added"), event(5, "removed"), event(5, "added", 2)];
  expect(coverageWindows(events)).toEqual([
    { from: day(1), until: day(5), end: "removed" },
    { from: day(5), until: null, end: null },
  ]);
});

test("of two ends in one moment the same one is told, whichever came first", () => {
  const begun = [event(1, "added"), event(1, "added", 2)];
  const ends = [event(5, "suspended"), event(5, "removed", 2)];
  const told = coverageWindows([...begun, ...ends]);
  expect(told).toHaveLength(1);
  expect(coverageWindows([...begun, ...ends.reverse()])).toEqual(told);
});

test("in any order and with any repetition the windows are the same, in order, and at most the last is open", () => {
  const events = fc.array(
    fc.record({
      at: fc.integer({ min: 1, max: 28 }).map(day),
      kind: fc.constantFrom(...(["added", "removed", "suspended", "unsuspended", "uninstalled"] as const)),
      installationId: fc.constantFrom(1, 2),
    }),
    { maxLength: 12 },
  );
  const distinct = (list: CoverageEvent[]) => [
    ...new Map(list.map((it) => [`${it.at}${it.installationId}`, it])).values(),
  ];
  fc.assert(
    fc.property(events.map(distinct), fc.nat(), (list, turn) => {
      const windows = coverageWindows(list);
      const turned = [...list.slice(turn % (list.length + 1)), ...list.slice(0, turn % (list.length + 1))];
      expect(coverageWindows([...turned, ...list])).toEqual(windows);
      for (const [index, { from, until }] of windows.entries()) {
        expect(until === null).toBe(index === windows.length - 1 && until === null);
        if (until !== null) expect(until > from).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});
