import { expect, test } from "bun:test";
import fc from "fast-check";
import { matchesGlob } from "#shared/glob.ts";
import { cpuMs } from "#test/support/cpu-time.ts";

test.each([
  ["gpt-*", "gpt-5", true],
  ["gpt-*", "gpt-", true],
  ["gpt-*", "gpt", false],
  ["*", "", true],
  ["", "", true],
  ["", "a", false],
  ["*-mini", "gpt-5-mini", true],
  ["*-mini", "gpt-5-mini-2026", false],
  ["a*b*c", "a-b-b-c", true],
  ["gpt-?", "gpt-5", true],
  ["gpt-?", "gpt-50", false],
  ["GPT-5", "gpt-5", false],
  ["meta/llama.[3]", "meta/llama.[3]", true],
  ["llama.3", "llama-3", false],
  ["a**", "a", true],
])("%s on %s: %p", (glob, text, expected) => {
  expect(matchesGlob(glob, text)).toBe(expected);
});

test("it agrees with the same glob written as a regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 }), (glob, text) => {
      const expression = new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`);
      expect(matchesGlob(glob, text)).toBe(expression.test(text));
    }),
    { numRuns: 1000 },
  );
});

test("a glob made to go wrong takes no more than pattern times text", async () => {
  const glob = `${"a*".repeat(100)}b`;
  expect(await cpuMs(() => expect(matchesGlob(glob, "a".repeat(10_000))).toBe(false))).toBeLessThan(500);
});
