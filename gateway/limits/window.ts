import type { PeriodName } from "#shared/admin/budgets.ts";

/** Calls and tokens admitted in one slot. */
export type RateSlot = { slot: number; requests: number; tokens: number };

/** Length of a slot: the resolution of the sliding minute. */
export const SLOT_MS = 250;
/** A slot counts for a minute after its end, so no minute, wherever it starts, exceeds the limit. */
export const SLOTS_COUNTED = 60_000 / SLOT_MS;

export const rateSlotAt = (nowMs: number): number => Math.floor(nowMs / SLOT_MS);

const MINUTE_MS = 60_000;

export const minuteOfSlot = (slot: number): number => Math.floor((slot * SLOT_MS) / MINUTE_MS) * MINUTE_MS;

const freeAtMs = (slot: number): number => (slot + SLOTS_COUNTED + 1) * SLOT_MS;

/** The slots that still count at `nowMs`. Oldest first, as `slots` are. */
export function activeSlots(slots: readonly RateSlot[], nowMs: number): readonly RateSlot[] {
  const from = slots.findIndex(({ slot }) => freeAtMs(slot) > nowMs);
  return from === 0 ? slots : slots.slice(from < 0 ? slots.length : from);
}

/** `slots`, with one more reservation in the newest slot. */
export function withReservation(slots: readonly RateSlot[], it: RateSlot): readonly RateSlot[] {
  const last = slots.at(-1);
  if (last?.slot !== it.slot) return [...slots, it];
  const both = { ...last, requests: last.requests + it.requests, tokens: last.tokens + it.tokens };
  return slots.with(-1, both);
}

/** `slots`, after a call of this slot used more or fewer tokens than were reserved. */
export function corrected(slots: readonly RateSlot[], slot: number, tokensMore: number): readonly RateSlot[] {
  const at = slots.findLastIndex((one) => one.slot === slot);
  const one = slots[at];
  return one ? slots.with(at, { ...one, tokens: Math.max(0, one.tokens + tokensMore) }) : slots;
}

/** Whole seconds, at least 1, until `need` more fit below `limit`; `slots` are the active ones, oldest first. */
export function secondsUntilCapacity(
  slots: readonly RateSlot[],
  unit: "requests" | "tokens",
  { limit, need, nowMs }: { limit: number; need: number; nowMs: number },
): number {
  let over = slots.reduce((sum, slot) => sum + slot[unit], 0) + Math.min(need, limit) - limit;
  for (const slot of slots) {
    if (over <= 0) break;
    over -= slot[unit];
    if (over <= 0) return secondsUntil(freeAtMs(slot.slot), nowMs);
  }
  return 1;
}

const secondsUntil = (atMs: number, nowMs: number): number => Math.max(1, Math.ceil((atMs - nowMs) / 1000));

/** A budget's period as UTC dates: from `from` until before `to`. */
export type BudgetPeriod = { from: string; to: string };

/** A week begins on Monday. */
export function budgetPeriodAt(period: PeriodName, at: Date): BudgetPeriod {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const first = {
    day: { month, day, months: 0, days: 1 },
    week: { month, day: day - ((at.getUTCDay() + 6) % 7), months: 0, days: 7 },
    month: { month, day: 1, months: 1, days: 0 },
    quarter: { month: month - (month % 3), day: 1, months: 3, days: 0 },
  }[period];
  const date = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return {
    from: date(Date.UTC(year, first.month, first.day)),
    to: date(Date.UTC(year, first.month + first.months, first.day + first.days)),
  };
}
