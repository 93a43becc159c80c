import type { Clock } from "#shared/clock.ts";
import { withReservation } from "../../limits/decide.ts";
import { activeSlots, type RateSlot, SLOT_MS } from "../../limits/window.ts";

/** Where a call's calls and tokens are counted. */
export type CountedCall = {
  slot: number;
  tokens: number;
  /** Not by the database. */
  alone: boolean;
  /** For a key whose share of the rates counts. */
  shared: boolean;
};

type Slots = readonly RateSlot[];

const corrected = (slots: Slots, slot: number, tokensMore: number): Slots =>
  slots.map((one) => (one.slot === slot ? { ...one, tokens: Math.max(0, one.tokens + tokensMore) } : one));

const counted = (slots: Slots, { slot, tokens }: CountedCall): Slots =>
  withReservation(activeSlots(slots, slot * SLOT_MS), { slot, requests: 1, tokens });

/** One process's rate slots of a key. */
export function createCountedSlots(clock: Clock) {
  /** The database's clock less this process's monotonic one. */
  let offsetMs = clock.now().getTime() - clock.monotonicMs();
  /** As the database last said, and what was admitted here alone since. */
  let whole: Slots = [];
  /** What was admitted here. */
  let own: Slots = [];
  /** What the database does not count yet. */
  let alone: Slots = [];
  const nowMs = () => clock.monotonicMs() + offsetMs;

  return {
    nowMs,
    whole: () => activeSlots(whole, nowMs()),
    own: () => activeSlots(own, nowMs()),
    /** The database's slots at this moment, with what was just reserved. */
    saw(slots: Slots, databaseMs: number): void {
      whole = slots;
      offsetMs = databaseMs - clock.monotonicMs();
    },
    add(call: CountedCall): void {
      if (call.shared) own = counted(own, call);
      if (!call.alone) return;
      whole = counted(whole, call);
      alone = counted(alone, call);
    },
    /** A call has used more or fewer tokens than were counted. */
    correct({ slot, alone: isAlone }: CountedCall, tokensMore: number): void {
      whole = corrected(whole, slot, tokensMore);
      own = corrected(own, slot, tokensMore);
      if (isAlone) alone = corrected(alone, slot, tokensMore);
    },
    takeAlone(): Slots {
      const taken = activeSlots(alone, nowMs());
      alone = [];
      return taken;
    },
    giveBack(taken: Slots): void {
      alone = alone.reduce<RateSlot[]>(withReservation, [...taken]);
    },
  };
}
