import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { decideAway, leaseUsd, overrunsOf } from "#gateway/limits/away.ts";
import { decideLimits, type LimitDemand, type LimitState } from "#gateway/limits/decide.ts";
import { formatPico, parsePico, picoRoundedUp } from "#gateway/limits/money.ts";
import {
  activeSlots,
  budgetPeriodAt,
  rateSlotAt,
  SLOT_MS,
  secondsUntilCapacity,
} from "#gateway/limits/window.ts";
import { parseDecimal } from "#shared/decimal.ts";

const period = { from: "2026-11-01", to: "2026-12-01" };
const NOW = Date.parse("2026-11-21T12:00:00Z");
const fresh: LimitState = { nowMs: NOW, slots: [], spent: 0n, held: 0n, calls: 0 };
const asking = (it: Partial<LimitDemand> = {}): LimitDemand => ({
  tokens: 0,
  usd: 0n,
  minimumUsd: it.usd ?? 0n,
  ...it,
});

describe("requests per minute", () => {
  test("no minute, however it is placed, sees more than the limit", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 8000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 12 }), (waits, limit) => {
        const limits = { requests_per_minute: limit };
        const through: number[] = [];
        let standing = fresh;
        for (const wait of waits) {
          const nowMs = standing.nowMs + wait;
          standing = { ...standing, nowMs, slots: activeSlots(standing.slots, nowMs) };
          const verdict = decideLimits({ limits, period, state: standing, demand: asking() });
          if ("refusal" in verdict) continue;
          standing = verdict.state;
          through.push(nowMs);
        }
        for (const [index, at] of through.entries()) {
          const inMinute = through.slice(index).filter((other) => other < at + 60_000);
          expect(inMinute.length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test("who waits as long as is said is let through", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 59_000 }), { minLength: 3, maxLength: 20 }), (ages) => {
        const slots = ages.map((age) => ({ slot: rateSlotAt(NOW - age), requests: 1, tokens: 10 }));
        const inOrder = activeSlots(
          slots.toSorted((a, b) => a.slot - b.slot),
          NOW,
        );
        const limit = inOrder.length;
        const seconds = secondsUntilCapacity(inOrder, "requests", { limit, need: 1, nowMs: NOW });
        expect(seconds).toBeLessThanOrEqual(61);
        const later = activeSlots(inOrder, NOW + seconds * 1000);
        expect(later.length).toBeLessThan(limit);
      }),
    );
  });

  test("a slot counts for a minute after its last moment, and not for a slot more", () => {
    const slots = [{ slot: rateSlotAt(NOW), requests: 1, tokens: 0 }];
    expect(activeSlots(slots, NOW + 60_000)).toHaveLength(1);
    expect(activeSlots(slots, NOW + 60_000 + SLOT_MS)).toHaveLength(0);
  });
});

test("a call that may use more tokens than a whole minute's waits for an empty minute", () => {
  const limits = { tokens_per_minute: 100 };
  const verdict = decideLimits({ limits, period, state: fresh, demand: asking({ tokens: 5000 }) });
  if ("refusal" in verdict) throw new Error("refused");
  expect(verdict.reservation.tokens).toBe(100);
  const next = decideLimits({ limits, period, state: verdict.state, demand: asking({ tokens: 1 }) });
  expect(next).toMatchObject({
    refusal: { limit: "tokens", headers: { "x-ratelimit-remaining-tokens": "0" } },
  });
});

describe("a budget", () => {
  test("is never reserved beyond what it is", () => {
    const ask = fc.record({
      usd: fc.bigInt({ min: 0n, max: 400n }),
      least: fc.bigInt({ min: 0n, max: 400n }),
    });
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 50 }), fc.bigInt({ min: 0n, max: 1000n }), (asks, spent) => {
        const limits = { budget_usd: formatPico(1000n) };
        let standing: LimitState = { ...fresh, spent };
        for (const { usd, least } of asks) {
          const minimumUsd = least % (usd + 1n);
          const verdict = decideLimits({
            limits,
            period,
            state: standing,
            demand: { tokens: 0, usd, minimumUsd: minimumUsd },
          });
          if (!("refusal" in verdict)) standing = verdict.state;
        }
        expect(standing.spent + standing.held).toBeLessThanOrEqual(1000n);
      }),
    );
  });

  test("that is spent is final until its period ends; that is reserved may be free in a second", () => {
    const limits = { budget_usd: "1" };
    const ask = asking({ usd: parsePico("0.6") });
    const spent = decideLimits({ limits, period, state: { ...fresh, spent: parsePico("0.5") }, demand: ask });
    expect(spent).toEqual({
      refusal: {
        type: "budget_exhausted",
        left: parsePico("0.5"),
        endsMs: Date.parse("2026-12-01"),
        headers: {},
      },
    });
    const held = decideLimits({ limits, period, state: { ...fresh, held: parsePico("0.5") }, demand: ask });
    expect(held).toMatchObject({
      refusal: { type: "rate_limited", limit: "reserved", retryAfterSeconds: 1 },
    });
  });

  test("a slice is a small part of one that is not half gone, and nothing of another", () => {
    const limits = { budget_usd: "1", when_away: "refuse" } as const;
    expect(leaseUsd(limits, fresh, false)).toBe(parsePico("0.02"));
    expect(leaseUsd(limits, { ...fresh, spent: parsePico("0.5") }, false)).toBe(0n);
  });
});

describe("while the database is away", () => {
  const slots = [{ slot: rateSlotAt(NOW), requests: 5, tokens: 50 }];
  const share = { usd: 0n, replicas: 3, slots };
  const away = (limits: KeyLimits, demand: Partial<LimitDemand> = {}) =>
    decideAway({ limits, period, demand: asking(demand), state: { ...fresh, calls: 2, slots }, share });
  const isAdmitted = (decision: ReturnType<typeof away>) => decision !== null && "reservation" in decision;

  test.each([
    ["requests per minute", { requests_per_minute: 9 }, 0],
    ["tokens per minute", { tokens_per_minute: 120 }, 20],
    ["concurrent calls", { concurrency: 6 }, 0],
  ] as const)(
    "a key that refuses has a gateway's share of its %s, any other key all of them",
    (_, limits, tokens) => {
      expect(isAdmitted(away(limits, { tokens }))).toBe(true);
      expect(away({ ...limits, when_away: "refuse" }, { tokens })).toBeNull();
    },
  );

  test("a key that has used its limit up is refused as ever", () => {
    for (const when_away of ["local", "refuse"] as const) {
      expect(away({ requests_per_minute: 5, when_away })).toMatchObject({
        refusal: { type: "rate_limited" },
      });
      expect(away({ concurrency: 2, when_away })).toMatchObject({ refusal: { limit: "calls" } });
    }
  });
});

test("what went over is what all gateways let through above the limits", () => {
  const minutes = [
    { requests: 90, tokens: 900, calls: 4 },
    { requests: 130, tokens: 1500, calls: 9 },
  ];
  const limits = { requests_per_minute: 100, concurrency: 5, budget_usd: "1.5" };
  expect(overrunsOf(limits, minutes, parsePico("1.75"))).toEqual({
    requests_per_minute: 30,
    tokens_per_minute: 0,
    concurrency: 4,
    budget_usd: parsePico("0.25"),
  });
  expect(overrunsOf({}, minutes, parsePico("9"))).toEqual({
    requests_per_minute: 0,
    tokens_per_minute: 0,
    concurrency: 0,
    budget_usd: 0n,
  });
});

describe("periods are UTC's", () => {
  test.each([
    ["month", "2026-11-30T23:59:59.999Z", "2026-11-01", "2026-12-01"],
    ["month", "2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
    ["month", "2028-02-29T12:00:00+14:00", "2028-02-01", "2028-03-01"],
    ["month", "2026-12-01T00:00:00+01:00", "2026-11-01", "2026-12-01"],
    ["day", "2026-12-31T23:59:59.999Z", "2026-12-31", "2027-01-01"],
    ["day", "2027-01-01T00:00:00.000Z", "2027-01-01", "2027-01-02"],
    ["day", "2028-02-28T23:30:00-01:00", "2028-02-29", "2028-03-01"],
  ] as const)("the %s of %s", (kind, at, from, to) => {
    expect(budgetPeriodAt(kind, new Date(at))).toEqual({ from, to });
  });
});

describe("money", () => {
  test("what is reserved is rounded up, a budget down", () => {
    expect(picoRoundedUp(parseDecimal("0.0000000000001"))).toBe(1n);
    expect(picoRoundedUp(parseDecimal("2.5"))).toBe(2_500_000_000_000n);
    expect(parsePico("0.0000000000019")).toBe(1n);
    expect(parsePico("12.5")).toBe(12_500_000_000_000n);
    expect(parsePico("0")).toBe(0n);
  });

  test("comes back from its text", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (pico) => parsePico(formatPico(pico)) === pico),
    );
  });
});
