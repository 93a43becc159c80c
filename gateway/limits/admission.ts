import type { Limits } from "#drizzle/schema/budgets.ts";
import type { LimitDemand, LimitRefusal, LimitState, Reservation } from "./decide.ts";
import type { Pico } from "./money.ts";
import type { RateSlot } from "./window.ts";

export type AskingCall = { callId: string; startedAt: string; limits: Limits; demand: LimitDemand };

export type AdmittedCall = AskingCall & {
  reservation: Reservation;
  slot: number;
  /** The database counts it; otherwise only this process does. */
  booked: boolean;
  /** What the budget had spent before it. */
  spent: Pico;
  /** Once it has ended. */
  used?: Used;
};

/** What a call used; null is unknown. `usd`: exact decimal. */
export type Used = { usd: string | null; tokens: number | null };

/** Null: the database is away, and this process has used up what it may admit without it. */
export type Admission = AdmittedCall | { refusal: LimitRefusal } | null;

/** `turn`: how many bookings it contains. `isRemembered`: it was not read for these calls. */
export type FoundState = LimitState & { turn?: number; isRemembered?: boolean };

/** The database's data for this process besides its booked calls. */
export type OutageLease = {
  /** Cost, actual or maximum, of calls that the database does not count, and `slice`. */
  usd: Pico;
  /** How many of them are running. */
  calls: number;
  /** The part of the budget that this process may spend while the database is away. */
  slice: Pico;
};

/** The decision about a batch of calls, which holds once the database has stored it. */
export type Booking = {
  admissions: Admission[];
  admitted: AdmittedCall[];
  /** Null: the stored value stays. */
  lease: OutageLease | null;
  /** The database's figures that the decision is based on. */
  found: FoundState;
  /** The calls are admitted already: they are written whatever others have booked. */
  isTold: boolean;
  /** Who decides: an account of a process in one period. */
  by: string;
  /** If it asks that no other one may book for a moment, until when this one relies on that. */
  aloneUntilMs: number | null;
};

/** Calls that a process let through for a key in one minute without the database. */
export type AwayMinute = { atMs: number; requests: number; tokens: number; calls: number; usd: Pico };

/** Use that was admitted without the database, to be added to the database's figures. */
export type AwayFigures = { slots: readonly RateSlot[]; minutes: readonly AwayMinute[]; lease: OutageLease };

/** Whether each call of the key is held in the database until its record is stored. */
export const isHeld = ({ budget_usd, concurrency }: Limits): boolean =>
  budget_usd !== undefined || concurrency !== undefined;
