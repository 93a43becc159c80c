import type { Limits } from "#drizzle/schema/budgets.ts";
import type { Clock } from "#shared/clock.ts";
import {
  type Admission,
  type AdmittedCall,
  type AskingCall,
  type AwayFigures,
  type AwayMinute,
  type Booking,
  type FoundState,
  isHeld,
  type OutageLease,
} from "./admission.ts";
import { decideAway, leaseUsd } from "./away.ts";
import { decideLimits, type LimitState } from "./decide.ts";
import { type Pico, parsePico } from "./money.ts";
import {
  activeSlots,
  type BudgetPeriod,
  corrected,
  minuteOfSlot,
  type RateSlot,
  rateSlotAt,
  withReservation,
} from "./window.ts";

/** Active slots, the cost of ended calls, the most that running ones may cost, and their number. */
type Count = { slots: readonly RateSlot[]; spent: Pico; held: Pico; calls: number };

/** Other processes take a slice of the budget back from a process without a heartbeat some minutes after this. */
const SLICE_GOOD_MS = 60 * 60_000;

/** How long figures count without being read again while no other process books. */
const REMEMBERED_MS = 1000;

/** One process's figures of an account in one budget period, and what they decide: with the database's figures, or alone. */
export class Account {
  readonly period: BudgetPeriod;
  /** Of the last call. */
  limits: Limits = {};
  readonly #clock: Clock;
  /** The database's last figures, plus calls admitted and ended here since. Running calls are this process's. */
  readonly #known: Count;
  /** The part of it that the database does not count; `spent`: until the records are stored. */
  readonly #unbooked: Count = { slots: [], spent: 0n, held: 0n, calls: 0 };
  #minutes: AwayMinute[] = [];
  /** The database's figures as of `turn`, and what has ended here since; null: another process books, too. */
  #recent: { turn: number; state: LimitState; readMs: number } | null = null;
  /** Of this process's last booking. */
  #turn: number | null = null;
  /** Use admitted here for a key with `when_away: "refuse"`, booked or not. */
  #ownSlots: readonly RateSlot[] = [];
  /** The rest of the budget slice. */
  #slice = 0n;
  #isLeased = false;
  /** The database's clock less this process's monotonic one. */
  #offsetMs: number;

  /** `spent`: what is known before the database is asked. */
  constructor(period: BudgetPeriod, spent: Pico, clock: Clock) {
    this.period = period;
    this.#known = { slots: [], spent, held: 0n, calls: 0 };
    this.#clock = clock;
    this.#offsetMs = clock.now().getTime() - clock.monotonicMs();
  }

  /** The database's figures without asking it; they may not refuse a call, since others may have given back. Null: unknown. */
  remembered(): FoundState | null {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#recent || nowMs - this.#recent.readMs > REMEMBERED_MS) return null;
    const { state, turn } = this.#recent;
    const atMs = nowMs + this.#offsetMs;
    return { ...state, nowMs: atMs, slots: activeSlots(state.slots, atMs), turn, isRemembered: true };
  }

  /** Decides calls in order by the database's figures, then renews the lease from what is left. */
  plan(asked: readonly AskingCall[], found: FoundState): Booking {
    const { turn, isRemembered } = found;
    if (!isRemembered) {
      const readMs = this.#clock.monotonicMs();
      this.#offsetMs = found.nowMs - readMs;
      const isOwn = turn !== undefined && turn === this.#turn;
      this.#recent = isOwn ? { turn, state: { ...found }, readMs } : null;
    }
    // The database has lost the bookings of its last moment if it crashed.
    const calls = Math.max(found.calls + this.#unbooked.calls, this.#known.calls);
    let state = { ...found, calls, held: found.held + this.#unbooked.held };
    if (state.held < this.#known.held) state.held = this.#known.held;
    state.held += this.#unbooked.spent;
    const slot = rateSlotAt(found.nowMs);
    const admitted: AdmittedCall[] = [];
    const admissions = asked.map((call): Admission => {
      const decision = decideLimits({ ...call, period: this.period, state });
      if ("refusal" in decision) return decision;
      state = decision.state;
      const it = { ...call, reservation: decision.reservation, slot, booked: true, spent: found.spent };
      admitted.push(it);
      return it;
    });
    // Without an admitted call nothing is written.
    const limits = admitted.at(-1)?.limits;
    const lease = limits ? this.#leaseAfter(limits, state) : null;
    // Whether the database stores it may stay unknown.
    if (lease && lease.slice < this.#slice) this.#slice = lease.slice;
    return { admissions, admitted, lease, found };
  }

  /** The database has stored the plan. */
  booked({ admissions, admitted, lease, found }: Booking): Admission[] {
    if (!found.isRemembered) {
      this.#known.spent = found.spent + this.#unbooked.spent;
      this.#known.slots = found.slots;
    }
    this.#ownSlots = activeSlots(this.#ownSlots, found.nowMs);
    if (admitted.length > 0 && found.turn !== undefined) this.#turn = found.turn + 1;
    if (this.#recent) this.#recent = { ...this.#recent, turn: this.#turn ?? 0 };
    if (lease) {
      this.#slice = lease.slice;
      this.#isLeased = lease.usd > 0n || lease.calls > 0;
    }
    for (const call of admitted) this.#admit(call);
    return admissions;
  }

  /** Decides without the database, at once. `silentMs`: how long ago the database was last heard of. */
  admitAlone(call: AskingCall, { replicas, silentMs }: { replicas: number; silentMs: number }): Admission {
    const nowMs = this.#clock.monotonicMs() + this.#offsetMs;
    for (const count of [this.#known, this.#unbooked]) count.slots = activeSlots(count.slots, nowMs);
    this.#ownSlots = activeSlots(this.#ownSlots, nowMs);
    const share = { usd: silentMs < SLICE_GOOD_MS ? this.#slice : 0n, replicas, slots: this.#ownSlots };
    const state = { ...this.#known, nowMs };
    const decision = decideAway({ ...call, period: this.period, state, share });
    if (decision === null || "refusal" in decision) return decision;
    const { reservation } = decision;
    const slot = rateSlotAt(nowMs);
    return this.#admit({ ...call, reservation, slot, booked: false, spent: state.spent });
  }

  #admit(call: AdmittedCall): AdmittedCall {
    const { booked, slot, limits, reservation } = call;
    const one = { slot, requests: 1, tokens: reservation.tokens };
    for (const count of this.#countsOf(booked)) {
      count.slots = withReservation(count.slots, one);
      count.held += reservation.usd;
      count.calls += 1;
    }
    if (limits.when_away === "refuse") this.#ownSlots = withReservation(this.#ownSlots, one);
    if (booked) return call;
    this.#slice -= reservation.usd;
    const minute = this.#minuteOf(slot);
    minute.requests += 1;
    minute.tokens += reservation.tokens;
    minute.calls = Math.max(minute.calls, this.#known.calls);
    return call;
  }

  /** Where a call counts. */
  #countsOf(booked: boolean): Count[] {
    if (!booked) return [this.#known, this.#unbooked];
    return this.#recent ? [this.#known, this.#recent.state] : [this.#known];
  }

  /** Another process has booked. */
  overtaken(): void {
    this.#recent = null;
  }

  /** `usd`: exact decimal. Null is unknown. */
  end(call: AdmittedCall, { usd, tokens }: { usd: string | null; tokens: number | null }): void {
    const { booked, slot, limits, reservation } = call;
    const cost = usd === null ? 0n : parsePico(usd);
    const more = tokens === null ? 0 : tokens - reservation.tokens;
    const isCorrected = more !== 0 && limits.tokens_per_minute !== undefined;
    for (const count of this.#countsOf(booked)) {
      count.held -= reservation.usd;
      count.spent += cost;
      count.calls -= 1;
      if (isCorrected) count.slots = corrected(count.slots, slot, more);
    }
    if (isCorrected) this.#ownSlots = corrected(this.#ownSlots, slot, more);
    if (booked) return;
    this.#slice += reservation.usd - cost;
    const minute = this.#minuteOf(slot);
    minute.tokens += more;
    minute.usd += cost;
  }

  #minuteOf(slot: number): AwayMinute {
    const atMs = minuteOfSlot(slot);
    const found = this.#minutes.find((minute) => minute.atMs === atMs);
    const minute = found ?? { atMs, requests: 0, tokens: 0, calls: 0, usd: 0n };
    if (!found) this.#minutes.push(minute);
    return minute;
  }

  /** Minimum cost of the period's records, by all gateways. */
  sawSpent(usd: Pico): void {
    const spent = usd + this.#unbooked.spent;
    if (spent > this.#known.spent) this.#known.spent = spent;
  }

  #leaseWith(slice: Pico): OutageLease {
    return { usd: slice + this.unbookedUsd(), calls: this.#unbooked.calls, slice };
  }

  /** Null if the database has no lease and needs none. */
  #leaseAfter(limits: Limits, state: LimitState): OutageLease | null {
    if (!isHeld(limits)) return null;
    const lease = this.#leaseWith(leaseUsd(limits, state));
    return this.#isLeased || lease.usd > 0n || lease.calls > 0 ? lease : null;
  }

  /** Takes the use that the database has to add; null: none. */
  take(): AwayFigures | null {
    if (this.#minutes.length === 0) return null;
    const lease = this.#leaseWith(this.#slice > 0n ? this.#slice : 0n);
    const taken = { slots: this.#unbooked.slots, minutes: this.#minutes, lease };
    this.#unbooked.slots = [];
    this.#minutes = [];
    this.#isLeased = true;
    return taken;
  }

  /** The database may not have added it. */
  giveBack({ slots, minutes }: AwayFigures): void {
    this.#unbooked.slots = this.#unbooked.slots.reduce(withReservation, slots);
    this.#minutes = [...minutes, ...this.#minutes];
  }

  /** Cost of calls that ended without the database, whose records may not be stored yet. */
  unstoredUsd(): Pico {
    return this.#unbooked.spent;
  }

  /** The records of such calls are stored. */
  stored(usd: Pico): void {
    this.#unbooked.spent -= usd;
  }

  /** All that the database does not count. */
  unbookedUsd(): Pico {
    return this.#unbooked.held + this.#unbooked.spent;
  }

  /** No call runs, and all records are stored. */
  isQuiet(): boolean {
    return this.#known.calls === 0 && this.#unbooked.spent === 0n;
  }
}
