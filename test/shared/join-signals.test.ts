import { expect, test } from "bun:test";
import { joinSignals } from "#shared/join-signals.ts";

test("joined signals end with the first of them, and for its reason", () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const { signal } = joinSignals([first.signal, second.signal]);
  expect(signal.aborted).toBe(false);
  second.abort("the client left");
  first.abort("too late");
  expect([signal.aborted, signal.reason]).toEqual([true, "the client left"]);
});

test("signals of which one has ended already are joined to one that has", () => {
  const { signal } = joinSignals([new AbortController().signal, AbortSignal.abort("before")]);
  expect([signal.aborted, signal.reason]).toEqual([true, "before"]);
});

test("a signal that was left ends no more", () => {
  const controller = new AbortController();
  const { signal, leave } = joinSignals([controller.signal]);
  leave();
  controller.abort();
  expect(signal.aborted).toBe(false);
});
