import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { Account } from "#gateway/limits/account.ts";
import type { Admission, AdmittedCall, AskingCall } from "#gateway/limits/admission.ts";
import type { LimitState } from "#gateway/limits/decide.ts";
import { formatPico, type Pico, parsePico } from "#gateway/limits/money.ts";

const PERIOD = { from: "2026-11-01", to: "2026-12-01" };
const NOW = Date.parse("2026-11-21T12:00:00Z");

type Ask = { usd?: Pico; minimumUsd?: Pico; tokens?: number };
let calls = 0;
const asking = (limits: KeyLimits, { usd = 0n, minimumUsd = usd, tokens = 0 }: Ask = {}): AskingCall => {
  calls += 1;
  return { callId: `call-${calls}`, startedAt: "", limits, demand: { tokens, usd, minimumUsd } };
};

/** A gateway's account, and the time that it sees. */
function opened(spent: Pico = 0n) {
  const time = { ms: NOW };
  const clock = { now: () => new Date(time.ms), monotonicMs: () => time.ms };
  const account = new Account(PERIOD, spent, clock);
  const alone = (call: AskingCall, silentMs = 0) => account.admitAlone(call, { replicas: 2, silentMs });
  return { time, account, alone };
}

const found = (it: Partial<LimitState> = {}): LimitState => ({
  nowMs: NOW,
  slots: [],
  spent: 0n,
  held: 0n,
  calls: 0,
  ...it,
});

function admitted(admission: Admission): AdmittedCall {
  if (admission === null || "refusal" in admission) throw new Error("not admitted");
  return admission;
}
const isAdmitted = (admission: Admission) => admission !== null && !("refusal" in admission);

/** As Postgres keeps them for two gateways: what is held or spent by booked calls, and the leases. */
function twoGateways() {
  const gateways = [opened(), opened()];
  const booked = new Map<string, Pico>();
  const leases = [0n, 0n];
  const running: { at: number; call: AdmittedCall }[] = [];
  /** The most that the calls that were let through may cost, or what they did cost. */
  const exposed = new Map<string, Pico>();
  const accountOf = (at: number) => gateways[at]?.account ?? opened().account;
  const sum = (amounts: Iterable<Pico>) => [...amounts].reduce((total, usd) => total + usd, 0n);
  const letThrough = (at: number, admission: Admission) => {
    if (!isAdmitted(admission)) return;
    const call = admitted(admission);
    running.push({ at, call });
    exposed.set(call.callId, call.reservation.usd);
  };
  return {
    exposedUsd: () => sum(exposed.values()),
    admit(at: number, call: AskingCall, isAnswered: boolean): void {
      const held = sum(booked.values()) + (leases[1 - at] ?? 0n);
      const booking = accountOf(at).plan([call], found({ held }));
      for (const { callId, reservation } of booking.admitted) booked.set(callId, reservation.usd);
      if (booking.lease) leases[at] = booking.lease.usd;
      if (isAnswered) for (const it of accountOf(at).booked(booking)) letThrough(at, it);
      else this.admitAlone(at, call);
    },
    admitAlone(at: number, call: AskingCall): void {
      letThrough(at, gateways[at]?.alone(call) ?? null);
    },
    end(nth: number, share: bigint): void {
      const [ended] = running.splice(nth % Math.max(1, running.length), 1);
      if (!ended) return;
      const { at, call } = ended;
      const cost = (call.reservation.usd * share) / 4n;
      accountOf(at).end(call, { usd: formatPico(cost), tokens: null });
      exposed.set(call.callId, cost);
      if (call.booked) booked.set(call.callId, cost);
      // Its record takes away what a lost answer left.
      else booked.delete(call.callId);
    },
    /** What was let through alone is written; the gateway may not learn of it. */
    write(at: number, isAnswered: boolean): void {
      const taken = accountOf(at).unbooked.take();
      if (!taken) return;
      leases[at] = taken.lease.usd;
      if (!isAnswered) accountOf(at).unbooked.giveBack(taken);
    },
  };
}

describe("a process that alone books", () => {
  /** Busy for a second, in which no other one booked. */
  function alone(limits: KeyLimits) {
    const { account, time, alone: away } = opened();
    const book = (turn: number) => {
      account.booked(account.plan([asking(limits)], { ...found({ nowMs: time.ms }), turn }));
      time.ms += 600;
    };
    for (let turn = 0; turn < 38; turn += 1) book(turn);
    time.ms -= 600;
    return { account, time, away };
  }

  test("admits by itself up to half of each limit, for a moment after a booking, and not while a call waits", () => {
    const limits = { concurrency: 80, budget_usd: "10" };
    const { account, time } = alone(limits);
    const now = (it: KeyLimits = limits) => account.admitNow(asking(it, { usd: parsePico("0.01") }));
    account.waiting = 1;
    expect(now()).toBeNull();
    account.waiting = 0;
    // Thirty-eight run.
    expect([now(), now(), now()].map(isAdmitted)).toEqual([true, true, false]);
    expect([account.mayWait(limits), account.mayWait({ ...limits, concurrency: 79 })]).toEqual([true, false]);
    const more = { concurrency: 1000, budget_usd: "10" };
    time.ms += 99;
    expect([isAdmitted(now(more)), now({ ...more, when_away: "refuse" })]).toEqual([true, null]);
    time.ms += 1;
    expect(now(more)).toBeNull();
  });

  test("keeps at most a fortieth of each limit, and a third of its slice of the budget, from the database, and as much on its way there", () => {
    const limits = { requests_per_minute: 120, budget_usd: "15" };
    const { account } = alone(limits);
    const now = (usd = "0.01") => account.admitNow(asking(limits, { usd: parsePico(usd) }));
    const calls = [now(), now(), now()].map(admitted);
    expect([now(), now("0.03")]).toEqual([null, null]);
    account.told(calls);
    expect(isAdmitted(now("0.09"))).toBe(true);
    expect(now("0.02")).toBeNull();
  });

  test("has a slice of the budget that others count as spent, until it is no longer alone", () => {
    const limits = { budget_usd: "50" };
    const { account } = alone(limits);
    const leased = () => account.plan([asking(limits)], { ...found({}), turn: 38 }).lease?.slice;
    expect(Number(leased())).toBeCloseTo(1e12, -11);
    account.overtaken();
    expect(leased()).toBe(0n);
  });

  test("and is overtaken asks again", () => {
    const { account } = alone({});
    expect(isAdmitted(account.admitNow(asking({})))).toBe(true);
    account.overtaken();
    expect(account.admitNow(asking({}))).toBeNull();
  });

  test("counts what the database was not told of as it does while that is away, ended or not", () => {
    const limits = { tokens_per_minute: 8000, budget_usd: "80" };
    const { account } = alone(limits);
    const ask = { usd: parsePico("0.1"), tokens: 100 };
    const calls = [1, 2].map(() => admitted(account.admitNow(asking(limits, ask))));
    const [first] = calls;
    if (first) account.end(first, { usd: "0.04", tokens: 30 });
    account.untold(calls);
    const taken = account.unbooked.take();
    expect(taken?.minutes).toMatchObject([{ requests: 2, tokens: 130, usd: parsePico("0.04") }]);
    const { usd = 0n, calls: running, slice = 0n } = taken?.lease ?? {};
    expect([usd - slice, running]).toEqual([parsePico("0.14"), 1]);
    if (calls[1]) account.end(calls[1], { usd: "0.05", tokens: 40 });
    expect(account.unbooked.usd()).toBe(parsePico("0.09"));
  });
});

describe("while the database is away", () => {
  test("a key that refuses stays within its budget, whoever is cut off and whatever answers are lost", () => {
    const limits = { budget_usd: formatPico(10_000n), when_away: "refuse" } as const;
    const action = fc.record({
      kind: fc.constantFrom("admit", "admit", "alone", "alone", "end", "write"),
      at: fc.nat(1),
      usd: fc.constantFrom(1n, 20n, 190n, 1500n),
      // Such a call takes all that is left.
      isUnbounded: fc.nat(9).map((n) => n === 0),
      isAnswered: fc.nat(4).map((n) => n > 0),
      nth: fc.nat(20),
    });
    fc.assert(
      fc.property(fc.array(action, { minLength: 10, maxLength: 60 }), (actions) => {
        const world = twoGateways();
        for (const { kind, at, usd, isUnbounded, isAnswered, nth } of actions) {
          const demand = isUnbounded ? { usd: 10n ** 9n, minimumUsd: 1n } : { usd };
          if (kind === "admit") world.admit(at, asking(limits, demand), isAnswered);
          if (kind === "alone") world.admitAlone(at, asking(limits, demand));
          if (kind === "end") world.end(nth, BigInt(nth % 5));
          if (kind === "write") world.write(at, isAnswered);
          expect(world.exposedUsd()).toBeLessThanOrEqual(10_000n);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("the slice of a budget is a fiftieth of what is left, and lasts an hour without contact", () => {
    const limits = { budget_usd: "1", when_away: "refuse" } as const;
    const cent = asking(limits, { usd: parsePico("0.01") });
    const { account, alone } = opened();
    account.booked(account.plan([asking(limits)], found()));
    expect(alone(cent, 3_600_000)).toBeNull();
    expect([alone(cent), alone(cent), alone(cent)].map(isAdmitted)).toEqual([true, true, false]);
  });

  test("what other gateways were last seen to use counts, and so does what was admitted here since", () => {
    const limits = { requests_per_minute: 5, concurrency: 4 };
    const { account, alone, time } = opened();
    const slots = [{ slot: Math.floor(NOW / 250), requests: 2, tokens: 0 }];
    const [first] = account.booked(account.plan([asking(limits)], found({ slots })));
    const second = alone(asking(limits));
    expect([isAdmitted(second), isAdmitted(alone(asking(limits)))]).toEqual([true, true]);
    expect(alone(asking(limits))).toMatchObject({ refusal: { limit: "requests" } });
    time.ms += 61_000;
    expect(isAdmitted(alone(asking(limits)))).toBe(true);
    expect(alone(asking(limits))).toMatchObject({ refusal: { limit: "calls" } });
    account.end(admitted(first ?? null), { usd: null, tokens: null });
    expect(isAdmitted(alone(asking(limits)))).toBe(true);
  });

  test("a key that refuses has its gateway's share of the rates, of which booked calls are a part", () => {
    const limits = { requests_per_minute: 6, when_away: "refuse" } as const;
    const { account, alone } = opened();
    account.booked(account.plan([asking(limits), asking(limits)], found()));
    expect(isAdmitted(alone(asking(limits)))).toBe(true);
    expect(alone(asking(limits))).toBeNull();
  });

  test("a budget counts what it was last known to have spent, and what ended since", () => {
    const limits = { budget_usd: "1" };
    const usd = parsePico("0.3");
    const { account, alone } = opened(parsePico("0.2"));
    const one = admitted(alone(asking(limits, { usd })));
    expect(one.spent).toBe(parsePico("0.2"));
    account.end(one, { usd: "0.3", tokens: null });
    expect(admitted(alone(asking(limits, { usd: 0n }))).spent).toBe(parsePico("0.5"));
    // Read from the records of all gateways, which this call's is not among yet.
    account.sawSpent(parsePico("0.6"));
    expect(alone(asking(limits, { usd }))).toMatchObject({ refusal: { type: "budget_exhausted" } });
  });
});

describe("after an outage", () => {
  test("the database is told each minute's calls, tokens and cost, and what still runs", () => {
    const limits = { tokens_per_minute: 1000, budget_usd: "1" };
    const { account, alone, time } = opened();
    const ask = { usd: parsePico("0.1"), tokens: 100 };
    const [first] = [alone(asking(limits, ask)), alone(asking(limits, ask))];
    time.ms += 60_000;
    alone(asking(limits, ask));
    account.end(admitted(first ?? null), { usd: "0.04", tokens: 30 });
    const taken = account.unbooked.take();
    const one = { calls: 2, requests: 2, tokens: 130, usd: parsePico("0.04") };
    expect(taken?.minutes).toEqual([
      { atMs: NOW, ...one },
      { atMs: NOW + 60_000, calls: 3, requests: 1, tokens: 100, usd: 0n },
    ]);
    expect(taken?.slots.map(({ requests, tokens }) => [requests, tokens])).toEqual([
      [2, 130],
      [1, 100],
    ]);
    expect(taken?.lease).toEqual({ usd: parsePico("0.24"), calls: 2, slice: 0n });
    expect(account.unbooked.take()).toBeNull();
  });

  test("what could not be told is told the next time, with what was admitted meanwhile", () => {
    const limits = { requests_per_minute: 100 };
    const { account, alone } = opened();
    alone(asking(limits));
    const taken = account.unbooked.take();
    if (!taken) throw new Error("nothing was taken");
    alone(asking(limits));
    account.unbooked.giveBack(taken);
    const again = account.unbooked.take();
    expect(again?.slots.map(({ requests }) => requests)).toEqual([2]);
    expect(again?.minutes.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
  });

  test("calls that the database does not count are in the way of others until their records are stored", () => {
    const limits = { budget_usd: "1", concurrency: 1 };
    const { account, alone } = opened();
    const usd = parsePico("0.6");
    const one = admitted(alone(asking(limits, { usd })));
    account.unbooked.take();
    const next = () => account.plan([asking(limits, { usd })], found()).admissions[0] ?? null;
    expect(next()).toMatchObject({ refusal: { limit: "calls" } });
    account.end(one, { usd: "0.6", tokens: null });
    expect(next()).toMatchObject({ refusal: { limit: "reserved" } });
    expect(account.isQuiet()).toBe(false);
    account.unbooked.stored(account.unbooked.count.spent);
    expect([isAdmitted(next()), account.isQuiet()]).toEqual([true, true]);
  });

  test("running calls count here even if a crash of the database undid their bookings", () => {
    const limits = { budget_usd: "1", concurrency: 2 };
    const { account } = opened();
    const book = (usd: string, calls: number) => {
      const booking = account.plan([asking(limits, { usd: parsePico(usd) })], found({ calls }));
      return account.booked(booking)[0] ?? null;
    };
    const one = admitted(book("0.6", 0));
    expect(book("0.5", 0)).toMatchObject({ refusal: { limit: "reserved" } });
    expect(isAdmitted(book("0.4", 0))).toBe(true);
    expect(book("0", 0)).toMatchObject({ refusal: { limit: "calls" } });
    account.end(one, { usd: "0.1", tokens: null });
    expect(isAdmitted(book("0.5", 0))).toBe(true);
  });

  test("a lease that is needed no longer is set to nothing once", () => {
    const limits = { budget_usd: "1" };
    const { account, alone } = opened();
    const one = admitted(alone(asking(limits, { usd: 1n })));
    account.unbooked.take();
    account.end(one, { usd: "0", tokens: null });
    const book = () => {
      const booking = account.plan([asking(limits)], found());
      account.booked(booking);
      return booking.lease;
    };
    expect(book()).toEqual({ usd: 0n, calls: 0, slice: 0n });
    expect(book()).toBeNull();
  });
});
