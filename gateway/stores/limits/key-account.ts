import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import type { AwayState } from "../../limits/away.ts";
import type { LimitState, Reservation } from "../../limits/decide.ts";
import { type Pico, parsePico } from "../../limits/money.ts";
import { type RateSlot, rateSlotAt } from "../../limits/window.ts";
import { type AwayMinute, createAwayMinutes, minuteOfSlot } from "./away-minutes.ts";
import { type CountedCall, createCountedSlots } from "./counted-slots.ts";

/** An admitted call. `booked`: the database counts it; otherwise only this process does. `spent`: of the budget, before it. */
export type AdmittedCall = {
  reservation: Reservation;
  slot: number;
  booked: boolean;
  limits: KeyLimits;
  spent: Pico;
};

/** What a call used: exact decimal USD and tokens; null is unknown. */
type Used = { usd: string | null; tokens: number | null };

/** One process's own figures of a key: what it needs to go on while the database is away. */
export type KeyAccount = {
  /** Calls that the database does not count yet: cost of ended ones, maximum cost and number of running ones. */
  unbooked(): { usd: Pico; calls: number };
  /** The database's figures at this moment, with what was just reserved. */
  saw(state: LimitState): void;
  /** What is known while the database is away; `spent` is the least that the period's records have cost. */
  away(spent: Pico): AwayState;
  /** A new slice of the budget replaces the old one, of which nothing is drawn any more. */
  newSlice(): void;
  admit(call: AdmittedCall): void;
  end(call: AdmittedCall, used: Used): void;
  /** Running calls, booked or not. */
  running(): number;
  /** The cost of ended unbooked calls, and a function to call once their records are stored. */
  unstored(): { usd: Pico; stored(): void };
  /** What the database has to add for unbooked calls; `giveBack` if it could not. */
  take(): AwayFigures;
  giveBack(figures: AwayFigures): void;
};

/** Active slots of unbooked calls, and the minutes in which they were admitted. */
export type AwayFigures = { slots: readonly RateSlot[]; minutes: AwayMinute[] };

const largest = (a: Pico, b: Pico): Pico => (a > b ? a : b);

const countedAs = ({ slot, booked, reservation, limits }: AdmittedCall): CountedCall => ({
  slot,
  tokens: reservation.tokens,
  alone: !booked,
  shared: limits.when_away === "refuse",
});

export function createKeyAccount(clock: Clock): KeyAccount {
  const slots = createCountedSlots(clock);
  const minutes = createAwayMinutes();
  const money = createMoney();
  let running = 0;
  let alone = 0;

  return {
    ...money,
    unbooked: () => ({ usd: money.unbooked(), calls: alone }),
    saw({ slots: found, nowMs, spent }) {
      slots.saw(found, nowMs);
      money.saw(spent);
    },
    away(spentAtLeast) {
      const { spent, held, drawn } = money.away(spentAtLeast);
      const both = { nowMs: slots.nowMs(), calls: running };
      return {
        whole: { ...both, slots: slots.whole(), spent, held },
        own: { ...both, slots: slots.own(), spent: 0n, held: drawn },
      };
    },
    admit(call) {
      running += 1;
      money.admit(call);
      slots.add(countedAs(call));
      if (call.booked) return;
      alone += 1;
      minutes.admitted(minuteOfSlot(call.slot), call.reservation.tokens, running);
    },
    end(call, { usd, tokens }) {
      const cost = usd === null ? 0n : parsePico(usd);
      const more = tokens === null ? 0 : tokens - call.reservation.tokens;
      running -= 1;
      money.end(call, cost);
      if (more !== 0 && call.limits.tokens_per_minute !== undefined) slots.correct(countedAs(call), more);
      if (call.booked) return;
      alone -= 1;
      minutes.ended(minuteOfSlot(call.slot), more, cost);
    },
    running: () => running,
    take: () => ({ slots: slots.takeAlone(), minutes: minutes.take() }),
    giveBack(figures) {
      slots.giveBack(figures.slots);
      minutes.giveBack(figures.minutes);
    },
  };
}

function createMoney() {
  let spent = 0n;
  /** Cost of booked calls that ended after the database's figures. */
  let endedSince = 0n;
  /** The most that running calls may cost: all of them, and those that the database does not count. */
  let held = 0n;
  let heldAlone = 0n;
  /** Cost of ended calls whose records may not be stored yet, and that the database did not count. */
  let endedAlone = 0n;
  /** Of the slice of the budget: the most that calls may cost, then what they did cost. */
  let drawn = 0n;
  return {
    unbooked: () => heldAlone + endedAlone,
    saw(found: Pico): void {
      spent = found;
      endedSince = 0n;
    },
    away: (spentAtLeast: Pico) => ({
      spent: largest(spent, spentAtLeast) + endedSince + endedAlone,
      held,
      drawn,
    }),
    newSlice(): void {
      drawn = 0n;
    },
    admit({ booked, reservation: { usd } }: AdmittedCall): void {
      held += usd;
      if (booked) return;
      heldAlone += usd;
      drawn += usd;
    },
    end({ booked, reservation: { usd } }: AdmittedCall, cost: Pico): void {
      held -= usd;
      if (booked) {
        endedSince += cost;
        return;
      }
      heldAlone -= usd;
      endedAlone += cost;
      drawn = largest(0n, drawn + cost - usd);
    },
    unstored() {
      const usd = endedAlone;
      const stored = () => {
        endedAlone -= usd;
        spent += usd;
      };
      return { usd, stored };
    },
  };
}

/** The rate slot of this moment by the database's clock, as far as `state` knows it. */
export const slotOf = ({ whole }: AwayState): number => rateSlotAt(whole.nowMs);
