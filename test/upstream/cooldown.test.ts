import { beforeEach, describe, expect, test } from "bun:test";
import type { Target } from "#gateway/call.ts";
import type { FailureCause } from "#gateway/errors.ts";
import type { Attempt } from "#gateway/upstream/attempt.ts";
import { type Cooldowns, openCooldowns } from "#gateway/upstream/cooldown.ts";
import { provider } from "#test/routing/world.ts";
import { movableClock } from "#test/stores/movable-clock.ts";

const clock = movableClock();
const target: Target = { provider: provider("p"), model: "m", wire: "chat" };
let cooldowns: Cooldowns;
let failures: string[];
beforeEach(() => {
  failures = [];
  cooldowns = openCooldowns(clock, (name, cause) => failures.push(`${name} ${cause}`));
});

const answered = (status: number, headers: Record<string, string> = {}): Attempt => ({
  kind: "answer",
  answer: new Response(null, { status }),
  headers: new Headers(headers),
  target,
  attempts: 1,
  usageRequested: false,
  translation: null,
  abort: () => undefined,
});
const failed = (reason: FailureCause | null, left = false): Attempt => ({
  kind: "failed",
  type: "upstream_unreachable",
  reason,
  target,
  attempts: 1,
  cause: null,
  sent: false,
  left,
});
const isPaused = (of: Target = target) => cooldowns.pausedUntil(of) > 0;

describe("a target is paused", () => {
  test.each(["refused", "dns", "tls", "timeout_connect", "timeout_first_byte"] as const)(
    "after the first failure by %s",
    (reason) => {
      cooldowns.ended(failed(reason));
      expect(isPaused()).toBe(true);
    },
  );

  test("after three errors in a row, and not after one or two", () => {
    cooldowns.ended(answered(500));
    cooldowns.ended(failed("reset"));
    expect(isPaused()).toBe(false);
    cooldowns.ended(answered(503));
    expect(isPaused()).toBe(true);
    expect(failures).toEqual(["p status_500", "p reset", "p status_503"]);
  });

  test("for as long as it asks for, whether busy or over its limit", () => {
    cooldowns.ended(answered(429, { "retry-after": "30" }));
    clock.advance(29_000);
    expect(isPaused()).toBe(true);
    clock.advance(2000);
    expect(isPaused()).toBe(false);
    cooldowns.ended(answered(503, { "retry-after-ms": "1500" }));
    expect(isPaused()).toBe(true);
    clock.advance(1600);
    expect(isPaused()).toBe(false);
  });

  test("for ten minutes at most, whatever it asks for", () => {
    cooldowns.ended(answered(429, { "retry-after": "86400" }));
    clock.advance(601_000);
    expect(isPaused()).toBe(false);
  });

  test("longer after each further failure, and for a minute at most", () => {
    const pauses = Array.from({ length: 6 }, () => {
      cooldowns.ended(failed("refused"));
      return Math.round((cooldowns.pausedUntil(target) - clock.monotonicMs()) / 1000);
    });
    expect(pauses).toEqual([5, 10, 20, 40, 60, 60]);
  });

  test("for its credential and model only, and not at a new address", () => {
    cooldowns.ended(failed("refused"));
    expect(isPaused({ ...target, model: "other" })).toBe(false);
    expect(isPaused({ ...target, provider: { ...target.provider, account: 1 } })).toBe(false);
    expect(isPaused({ ...target, provider: { ...target.provider, baseUrl: "https://new.example/v1" } })).toBe(
      false,
    );
  });
});

describe("a target is not paused", () => {
  test("by refusals of a call, which show that it works, and which end a pause", () => {
    for (const status of [400, 401, 404, 422]) {
      cooldowns.ended(failed("refused"));
      cooldowns.ended(answered(status));
      expect(isPaused()).toBe(false);
    }
    expect(cooldowns.states()).toEqual([]);
  });

  test("by a client that leaves, or by a call that the gateway itself did not send", () => {
    cooldowns.ended(failed("reset", true));
    cooldowns.ended(failed(null));
    expect(cooldowns.states()).toEqual([]);
  });
});

describe("after a pause", () => {
  test("one call tries the target, and the others wait for what comes of it", () => {
    cooldowns.ended(failed("refused"));
    expect(cooldowns.states()).toMatchObject([{ state: "open", failures: 1, cause: "refused" }]);
    clock.advance(5001);
    expect(isPaused()).toBe(false);
    cooldowns.began(target);
    expect(isPaused()).toBe(true);
    expect(cooldowns.states()).toMatchObject([{ state: "half_open" }]);
    cooldowns.ended(answered(200));
    expect(isPaused()).toBe(false);
    expect(cooldowns.states()).toEqual([]);
  });

  test("another call tries once more if the first comes to no result", () => {
    cooldowns.ended(failed("refused"));
    clock.advance(5001);
    cooldowns.began(target);
    cooldowns.ended(failed("reset", true));
    expect(isPaused()).toBe(true);
    clock.advance(5001);
    expect(isPaused()).toBe(false);
  });
});
