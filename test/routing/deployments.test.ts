import { describe, expect, test } from "bun:test";
import type { Choice, Target } from "#gateway/call.ts";
import { Secret } from "#gateway/directory.ts";
import { type DeploymentState, orderedTargets } from "#gateway/routing/deployments.ts";
import { provider } from "./world.ts";

const target = (name: string, facts: Partial<Target> = {}): Target => ({
  provider: provider(name),
  model: "m",
  wire: "chat",
  ...facts,
});

const choiceOf = (first: Target, ...rest: Target[]): Choice => ({
  route: null,
  routeName: "r",
  source: "model",
  targets: [first, ...rest],
  channel: "api",
});

type World = { paused?: Record<string, number>; busy?: Record<string, number> };
const state = ({ paused = {}, busy = {} }: World = {}): DeploymentState => ({
  pausedUntil: ({ provider: { name } }) => paused[name] ?? 0,
  callsInFlight: ({ provider: { name } }) => busy[name] ?? 0,
});

const namesOf = ({ targets }: Choice) => targets.map(({ provider: { name } }) => name);

describe("a route without weights", () => {
  const choice = choiceOf(target("a"), target("b"), target("c"));

  test("keeps its order", () => {
    expect(namesOf(orderedTargets(choice, { session: "s", id: "1" }, state()))).toEqual(["a", "b", "c"]);
  });

  test("tries paused targets last, the one whose pause ends first before the others", () => {
    const paused = state({ paused: { a: 900, c: 500 } });
    expect(namesOf(orderedTargets(choice, { session: null, id: "1" }, paused))).toEqual(["b", "c", "a"]);
  });

  test("with one target has nothing to choose, whether it is paused or not", () => {
    const one = choiceOf(target("a"));
    expect(orderedTargets(one, { session: null, id: "1" }, state({ paused: { a: 900 } }))).toBe(one);
  });
});

describe("a route with weights", () => {
  const choice = choiceOf(target("a", { weight: 3 }), target("last"), target("b", { weight: 1 }));
  const firstOf = (session: string | null, id: string, world: World = {}) =>
    namesOf(orderedTargets(choice, { session, id }, state(world)))[0];

  test("shares sessions by weight, and tries targets without a weight last", () => {
    const firsts = Array.from({ length: 4000 }, (_, n) => firstOf(`session-${n}`, "1"));
    const share = firsts.filter((name) => name === "a").length / firsts.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.78);
    expect(namesOf(orderedTargets(choice, { session: "x", id: "1" }, state())).at(-1)).toBe("last");
  });

  test("shares calls without a session by weight while none is busy", () => {
    const firsts = Array.from({ length: 4000 }, (_, n) => firstOf(null, `call-${n}`));
    const share = firsts.filter((name) => name === "a").length / firsts.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.78);
  });

  test("sends calls without a session where fewest are running for the weight", () => {
    expect(firstOf(null, "1", { busy: { a: 2, b: 1 } })).toBe("a");
    expect(firstOf(null, "1", { busy: { a: 4, b: 1 } })).toBe("b");
  });

  test("keeps a session where it is, however busy that is, and moves it only while its target is paused", () => {
    for (let n = 0; n < 50; n += 1) {
      const usual = firstOf(`session-${n}`, "1");
      expect(firstOf(`session-${n}`, "2", { busy: { a: 9, b: 9 } })).toBe(usual);
      const other = usual === "a" ? "b" : "a";
      expect(firstOf(`session-${n}`, "1", { paused: { [String(usual)]: 1 } })).toBe(other);
      expect(firstOf(`session-${n}`, "1", { paused: { [other]: 1 } })).toBe(usual);
    }
  });

  test("moves no session between the targets that stay when one is removed", () => {
    const three = choiceOf(...(["a", "b", "c"].map((name) => target(name, { weight: 1 })) as [Target]));
    const two = choiceOf(...(["a", "b"].map((name) => target(name, { weight: 1 })) as [Target]));
    for (let n = 0; n < 200; n += 1) {
      const call = { session: `session-${n}`, id: "1" };
      const [before] = namesOf(orderedTargets(three, call, state()));
      if (before !== "c") expect(namesOf(orderedTargets(two, call, state()))[0]).toBe(before);
    }
  });
});

describe("a provider with several credentials", () => {
  const credentials = ["one", "two", "three"].map((text) => new Secret(text));
  const many = target("many", {
    provider: provider("many", { credentials, credential: credentials[0] ?? null }),
  });
  const used = (choice: Choice) => choice.targets.map(({ provider: { credential } }) => credential?.reveal());

  test("has all of them tried before the fallback", () => {
    const ordered = orderedTargets(choiceOf(many, target("b")), { session: "s", id: "1" }, state());
    expect(namesOf(ordered)).toEqual(["many", "many", "many", "b"]);
    expect(used(ordered).slice(0, 3).toSorted()).toEqual(["one", "three", "two"]);
  });

  test("spreads sessions over them, each with one credential", () => {
    const first = (session: string) => used(orderedTargets(choiceOf(many), { session, id: "1" }, state()))[0];
    const seen = new Set(Array.from({ length: 60 }, (_, n) => first(`session-${n}`)));
    expect(seen.size).toBe(3);
    expect(first("session-7")).toBe(first("session-7"));
  });

  test("uses none of them where the caller's own subscription pays", () => {
    const choice: Choice = { ...choiceOf(many), channel: "subscription" };
    expect(orderedTargets(choice, { session: "s", id: "1" }, state())).toBe(choice);
  });
});
