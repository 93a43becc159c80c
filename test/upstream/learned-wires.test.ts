import { expect, test } from "bun:test";
import { learnedWires } from "#gateway/upstream/learned-wires.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

test("a wire that a provider lacks for a model is tried again after a day, and at another address at once", () => {
  let nowMs = 1_800_000_000_000;
  const learned = learnedWires({ now: () => new Date(nowMs), monotonicMs: () => nowMs } as never);
  const provider = { name: "p", baseUrl: "https://a.example/v1" };
  learned.learn(provider, "m", "chat");
  expect(learned.of("p")).toEqual([{ model: "m", lacks: "chat", learnedAtMs: nowMs }]);
  const lacks = (at = provider, model: string | null = "m") => learned.lacks(at, model, "chat");
  expect([lacks(), lacks(provider, "other"), lacks(provider, null)]).toEqual([true, false, false]);
  expect(lacks({ ...provider, baseUrl: "https://b.example/v1" })).toBe(false);
  nowMs += DAY_MS - 1;
  expect(lacks()).toBe(true);
  nowMs += 1;
  expect([lacks(), learned.of("p")]).toEqual([false, []]);
});
