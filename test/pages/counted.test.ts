import { expect, test } from "bun:test";
import { counted } from "#gateway/pages/parts/format.ts";

test.each([
  [0, "0 calls"],
  [1, "1 call"],
  ["1", "1 call"],
  [2, "2 calls"],
  [0.5, "0.5 calls"],
] as const)("a count of %j reads %s", (value, text) => {
  expect(counted(value, "call")).toBe(text);
});

test("words that change with the count are given whole", () => {
  const words = ["merge is", "merges are"] as const;
  expect([counted(1, ...words), counted(3, ...words)]).toEqual(["1 merge is", "3 merges are"]);
});
