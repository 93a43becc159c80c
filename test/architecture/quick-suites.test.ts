import { expect, test } from "bun:test";
import { isQuick } from "#test/support/quick-suites.ts";

test("a quick suite starts no process, database or browser, itself or by what it imports", () => {
  expect(isQuick("test/translate/round-trip.test.ts")).toBe(true);
  // Postgres by an import of its own, a gateway by a helper's import.
  expect(isQuick("test/stores/directory.test.ts")).toBe(false);
  expect(isQuick("test/limits/one-gateway.test.ts")).toBe(false);
});
