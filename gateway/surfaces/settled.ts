import { within } from "#drizzle/database.ts";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import type { Wholeness } from "./report-answers.ts";

/** What a report waits for before it is made. */
export type Settling = Ambient & {
  /** Resolves once all calls that have ended are in the database; `hurry` forces a flush instead of the next batch. */
  settled(hurry?: boolean): Promise<void>;
  whole: Wholeness;
};

/** A report does not wait longer than this for calls that have just ended. */
const SETTLED_MAX_MS = 1_000;
/** A forced flush costs the event loop about one call, so of reports in quick succession only one forces it. */
const HURRY_EVERY_MS = 200;

/** One that forces a flush only when none was forced just now. */
export function seldomHurrying({ settled, clock }: Pick<Settling, "settled" | "clock">): () => Promise<void> {
  let hurriedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    const hurry = nowMs - hurriedMs >= HURRY_EVERY_MS;
    if (hurry) hurriedMs = nowMs;
    return settled(hurry);
  };
}

/** Waits, within bounds, for calls that have just ended; if they cannot be stored now, the report is without them. */
export async function settledAt<T>(deps: Settling, work: (now: Date) => Promise<T>): Promise<T> {
  const now = deps.clock.now();
  try {
    await within(SETTLED_MAX_MS, deps.settled());
  } catch (error) {
    deps.log.warn(errorFields(error), "a report omits the latest calls");
    deps.whole.complete = false;
  }
  return await work(now);
}
