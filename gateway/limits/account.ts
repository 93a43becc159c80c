import type { Limits } from "#drizzle/schema/budgets.ts";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Admission, AdmittedCall, AskingCall, Booking, FoundState, Used } from "./admission.ts";
import { decideAway } from "./away.ts";
import { begin, type Count, end, nothing, rateOf } from "./count.ts";
import { decideLimits, isRoomy, type LimitState } from "./decide.ts";
import type { Pico } from "./money.ts";
import { Unbooked } from "./unbooked.ts";
import {
  activeSlots,
  type BudgetPeriod,
  corrected,
  type RateSlot,
  rateSlotAt,
  withReservation,
} from "./window.ts";

/** Other processes take a slice of the budget back from a process without a heartbeat some minutes after this. */
const SLICE_GOOD_MS = 60 * 60_000;

/** How long figures count without being read again while no other process books. */
const REMEMBERED_MS = 1000;

/** A busy process that alone has booked for this long may admit calls before it informs the database. */
const ALONE_AFTER_MS = 1000;
/** How long after a booking; the database keeps others out for longer (`ALONE_SECONDS`). */
const ALONE_MS = 100;
/** At most this part of each limit waits to be told; as much is being told. */
const EARLY_PART = 40;
/** And this part of the slice, which other processes count as spent; as much is being told, and the next slice may be smaller. */
const EARLY_PART_OF_SLICE = 3n;

/** One process's figures of an account in one budget period, and what they decide: with the database's figures, or alone. */
export class Account {
  readonly period: BudgetPeriod;
  /** Of the last call. */
  limits: Limits = {};
  /** Calls waiting for the database's figures. */
  waiting = 0;
  /** Another period's account of this process, too, may not book where this one is alone. */
  readonly #id = newId();
  readonly #clock: Clock;
  /** The database's last figures, plus calls admitted and ended here since. Running calls are this process's. */
  readonly #known: Count;
  /** The part of it that the database does not count. */
  readonly unbooked = new Unbooked();
  /** The database's figures as of `turn`, and what has ended here since; null: another process books, too. */
  #recent: { turn: number; state: LimitState; readMs: number } | null = null;
  /** Of this process's last booking. */
  #turn: number | null = null;
  /** Since when this process is busy and saw no other one book, and until when none may. */
  #ownSinceMs: number | null = null;
  #aloneUntilMs = Number.NEGATIVE_INFINITY;
  /** Admitted before the database is told: other processes lack it if this one stands still. */
  #early = nothing();
  /** Use admitted here for a key with `when_away: "refuse"`, booked or not. */
  #ownSlots: readonly RateSlot[] = [];
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
      const isBusy = this.#recent !== null && readMs - this.#recent.readMs < 2 * REMEMBERED_MS;
      if (!isOwn || !isBusy) this.#ownSinceMs = isOwn ? readMs : null;
      this.#recent = isOwn ? { turn, state: { ...found }, readMs } : null;
    }
    let state = this.#counted(found);
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
    return { admissions, ...this.#booking(admitted, state), found, isTold: false };
  }

  #booking(
    admitted: AdmittedCall[],
    state: LimitState,
  ): Pick<Booking, "admitted" | "lease" | "by" | "aloneUntilMs"> {
    const limits = admitted.at(-1)?.limits;
    const nowMs = this.#clock.monotonicMs();
    const isAlone = this.#ownSinceMs !== null && nowMs - this.#ownSinceMs >= ALONE_AFTER_MS;
    const lease = limits ? this.unbooked.leaseAfter(limits, state, isAlone) : null;
    return { admitted, lease, by: this.#id, aloneUntilMs: isAlone ? nowMs + ALONE_MS : null };
  }

  /** The database's figures with what it does not count. */
  #counted(found: LimitState): LimitState {
    const { calls, held, spent } = this.unbooked.count;
    // The database has lost the bookings of its last moment if it crashed.
    const all = { calls: found.calls + calls, held: found.held + held };
    if (all.calls < this.#known.calls) all.calls = this.#known.calls;
    if (all.held < this.#known.held) all.held = this.#known.held;
    return { ...found, calls: all.calls, held: all.held + spent };
  }

  /**
   * Admits a call that the database learns of later: no other process may book until then. Null: it has to be asked, as
   * always if the key must not exceed its limits while the database is away.
   */
  admitNow(call: AskingCall): AdmittedCall | null {
    const found = this.waiting === 0 && call.limits.when_away !== "refuse" ? this.#alone() : null;
    const decision = found && decideLimits({ ...call, period: this.period, state: found });
    if (!decision || "refusal" in decision || !isRoomy(call.limits, decision.state)) return null;
    const { reservation, state } = decision;
    const it = { ...call, reservation, slot: rateSlotAt(state.nowMs), booked: true, spent: state.spent };
    const early = { ...this.#early };
    begin(early, it);
    if (!isRoomy(call.limits, early, EARLY_PART)) return null;
    if (call.limits.budget_usd !== undefined && early.held * EARLY_PART_OF_SLICE > this.unbooked.slice)
      return null;
    this.#early = early;
    return this.#admit(it);
  }

  /** What is sent to the database about calls that were admitted before it knew. */
  told(admitted: AdmittedCall[]): Booking {
    this.#early = nothing();
    const nowMs = this.#clock.monotonicMs() + this.#offsetMs;
    const state = { ...(this.#recent?.state ?? this.#known), nowMs };
    const booking = this.#booking(admitted, this.#counted(state));
    const found = { ...state, turn: this.#turn ?? 0, isRemembered: true };
    return { admissions: admitted, ...booking, found, isTold: true };
  }

  /** The database may not know of these calls: they count as if it were away. */
  untold(calls: readonly AdmittedCall[]): void {
    this.overtaken();
    for (const call of calls) {
      call.booked = false;
      this.unbooked.begin(call, this.#known.calls);
      if (call.used) this.unbooked.end(call, call.used);
    }
  }

  /** Whether the end of a call may reach the database later: only this process books, and less than half is used. */
  mayWait(limits: Limits): boolean {
    const found = this.#alone();
    return found !== null && isRoomy(limits, found);
  }

  /** All figures, while no other process may book; else null. */
  #alone(): LimitState | null {
    const found = this.#clock.monotonicMs() < this.#aloneUntilMs ? this.remembered() : null;
    return found && this.#counted(found);
  }

  /** The database has stored the plan. */
  booked({ admissions, admitted, lease, found, isTold, aloneUntilMs }: Booking): Admission[] {
    if (!found.isRemembered) {
      this.#known.spent = found.spent + this.unbooked.count.spent;
      this.#known.slots = found.slots;
    }
    this.#ownSlots = activeSlots(this.#ownSlots, found.nowMs);
    if (admitted.length > 0 && found.turn !== undefined) this.#turn = found.turn + 1;
    if (this.#recent) this.#recent = { ...this.#recent, turn: this.#turn ?? 0 };
    if (lease) this.unbooked.leased(lease);
    if (aloneUntilMs !== null) this.#aloneUntilMs = aloneUntilMs;
    if (!isTold) for (const call of admitted) this.#admit(call);
    return admissions;
  }

  /** Decides without the database, at once. `silentMs`: how long ago the database was last heard of. */
  admitAlone(call: AskingCall, { replicas, silentMs }: { replicas: number; silentMs: number }): Admission {
    const nowMs = this.#clock.monotonicMs() + this.#offsetMs;
    for (const count of [this.#known, this.unbooked.count]) count.slots = activeSlots(count.slots, nowMs);
    this.#ownSlots = activeSlots(this.#ownSlots, nowMs);
    const share = {
      usd: silentMs < SLICE_GOOD_MS ? this.unbooked.slice : 0n,
      replicas,
      slots: this.#ownSlots,
    };
    const state = { ...this.#known, nowMs };
    const decision = decideAway({ ...call, period: this.period, state, share });
    if (decision === null || "refusal" in decision) return decision;
    const { reservation } = decision;
    const slot = rateSlotAt(nowMs);
    return this.#admit({ ...call, reservation, slot, booked: false, spent: state.spent });
  }

  #admit(call: AdmittedCall): AdmittedCall {
    for (const count of this.#counts(call)) begin(count, call);
    if (call.limits.when_away === "refuse") this.#ownSlots = withReservation(this.#ownSlots, rateOf(call));
    if (!call.booked) this.unbooked.begin(call, this.#known.calls);
    return call;
  }

  /** Where a call counts, besides what is not booked. */
  #counts({ booked }: AdmittedCall): Count[] {
    return booked && this.#recent ? [this.#known, this.#recent.state] : [this.#known];
  }

  /** Another process has booked. */
  overtaken(): void {
    this.#recent = null;
    this.#ownSinceMs = null;
    this.#aloneUntilMs = Number.NEGATIVE_INFINITY;
    this.#early = nothing();
  }

  end(call: AdmittedCall, used: Used): void {
    const { slot, reservation, limits, booked } = call;
    call.used = used;
    for (const count of this.#counts(call)) end(count, call, used);
    if (limits.tokens_per_minute !== undefined && used.tokens !== null)
      this.#ownSlots = corrected(this.#ownSlots, slot, used.tokens - reservation.tokens);
    if (!booked) this.unbooked.end(call, used);
  }

  /** Minimum cost of the period's records, by all gateways. */
  sawSpent(usd: Pico): void {
    const spent = usd + this.unbooked.count.spent;
    if (spent > this.#known.spent) this.#known.spent = spent;
  }

  /** No call runs, and all records are stored. */
  isQuiet(): boolean {
    return this.#known.calls === 0 && this.unbooked.count.spent === 0n;
  }
}
