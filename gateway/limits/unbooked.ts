import type { Limits } from "#drizzle/schema/budgets.ts";
import {
  type AdmittedCall,
  type AwayFigures,
  type AwayMinute,
  isHeld,
  type OutageLease,
  type Used,
} from "./admission.ts";
import { leaseUsd } from "./away.ts";
import { begin, costOf, end, nothing } from "./count.ts";
import type { LimitState } from "./decide.ts";
import type { Pico } from "./money.ts";
import { minuteOfSlot, withReservation } from "./window.ts";

/** What a process admitted for an account that the database does not count, and the slice of the budget that it drew on. */
export class Unbooked {
  /** `spent`: until the records are stored. */
  readonly count = nothing();
  /** The rest of the budget slice. */
  slice = 0n;
  #isLeased = false;
  #minutes: AwayMinute[] = [];

  /** `running`: all calls of the account that this process runs. */
  begin(call: AdmittedCall, running: number): void {
    begin(this.count, call);
    this.slice -= call.reservation.usd;
    const minute = this.#minuteOf(call.slot);
    minute.requests += 1;
    minute.tokens += call.reservation.tokens;
    minute.calls = Math.max(minute.calls, running);
  }

  end(call: AdmittedCall, used: Used): void {
    end(this.count, call, used);
    const { cost, more } = costOf(call, used);
    this.slice += call.reservation.usd - cost;
    const minute = this.#minuteOf(call.slot);
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

  #leaseWith(slice: Pico): OutageLease {
    return { usd: slice + this.usd(), calls: this.count.calls, slice };
  }

  /** The lease to be stored with a booking. Null if the database has none and needs none. */
  leaseAfter(limits: Limits, state: LimitState, isAlone: boolean): OutageLease | null {
    if (!isHeld(limits)) return null;
    const lease = this.#leaseWith(leaseUsd(limits, state, isAlone));
    if (!this.#isLeased && lease.usd === 0n && lease.calls === 0) return null;
    // Whether the database stores it may stay unknown.
    if (lease.slice < this.slice) this.slice = lease.slice;
    return lease;
  }

  /** The database has stored it. */
  leased({ usd, calls, slice }: OutageLease): void {
    this.slice = slice;
    this.#isLeased = usd > 0n || calls > 0;
  }

  /** Takes the use that the database has to add; null: none. */
  take(): AwayFigures | null {
    if (this.#minutes.length === 0) return null;
    const lease = this.#leaseWith(this.slice > 0n ? this.slice : 0n);
    const taken = { slots: this.count.slots, minutes: this.#minutes, lease };
    this.count.slots = [];
    this.#minutes = [];
    this.#isLeased = true;
    return taken;
  }

  /** The database may not have added it. */
  giveBack({ slots, minutes }: AwayFigures): void {
    this.count.slots = this.count.slots.reduce(withReservation, slots);
    this.#minutes = [...minutes, ...this.#minutes];
  }

  /** The records of calls that cost this are stored. */
  stored(usd: Pico): void {
    this.count.spent -= usd;
  }

  /** All that the database does not count. */
  usd(): Pico {
    return this.count.held + this.count.spent;
  }
}
