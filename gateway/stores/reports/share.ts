import { availableParallelism } from "node:os";
import type { Clock } from "#shared/clock.ts";

/** Work of reports that begins at once, also beside calls: a page of a dozen reports over ten million calls takes less. */
const BURST_MS = 2_000;
/**
 * What reports get beside calls once that is used up: an eighth of the cores, which is a quarter of the time that the one
 * report at a time on two cores could take, and on sixteen and more all that the reports made at once can use. Whatever a
 * core beside the calls' one does, calls slow down by a third, since cores share caches and the way to memory.
 */
const SHARE_OF_CORES = 1 / 8;
/** After this a report begins whatever others have used: whoever asked waits for it. */
const WAIT_MAX_MS = 2_000;
/** Calls are taken to go on for so long after the last one. */
const CALM_AFTER_MS = 1_000;
/** How soon one that waits finds out that there are no calls any more. */
const LOOK_EVERY_MS = 250;

/** Calls under way, and how many have ended so far. */
type CallCounts = { open: number; settled: number };

/** One report's wait for its share, from the first time that it is asked: when nothing else keeps the report waiting. */
export type Place = {
  /** Milliseconds after which to ask again; 0: the report begins now. */
  ask(): number;
};

export type Share = {
  place(): Place;
  /** A report has worked for so long where calls are answered, in milliseconds of one core. */
  spend(workedMs: number): void;
  /** Whether calls are answered now. */
  isBesideCalls(): boolean;
};

type ShareOptions = {
  clock: Clock;
  calls(): CallCounts;
  /** Told how long each report waited, in milliseconds. */
  waited?(ms: number): void;
  cores?: number;
};

/** No report waits. */
export const WHOLE_SHARE: Share = {
  place: () => ({ ask: () => 0 }),
  spend: () => undefined,
  isBesideCalls: () => false,
};

/**
 * What reports may use of the machine while it answers calls: a token bucket of milliseconds of work. It costs calls
 * nothing, and has no timer. Without calls, reports neither wait nor use anything up.
 */
export function reportShare({ clock, calls, waited, cores = availableParallelism() }: ShareOptions): Share {
  const perMs = cores * SHARE_OF_CORES;
  const isBesideCalls = lately(clock, calls);
  let leftMs = BURST_MS;
  let filledMs = clock.monotonicMs();

  const fill = () => {
    const nowMs = clock.monotonicMs();
    leftMs = Math.min(BURST_MS, leftMs + (nowMs - filledMs) * perMs);
    filledMs = nowMs;
    return nowMs;
  };

  return {
    place() {
      let fromMs: number | null = null;
      return {
        ask() {
          const nowMs = fill();
          fromMs ??= nowMs;
          const untilMs = Math.min(nowMs - leftMs / perMs, fromMs + WAIT_MAX_MS);
          const isHeld = isBesideCalls() && untilMs > nowMs;
          if (isHeld) return Math.min(Math.ceil(untilMs - nowMs), LOOK_EVERY_MS);
          waited?.(nowMs - fromMs);
          return 0;
        },
      };
    },
    spend(workedMs) {
      fill();
      // No debt that takes longer to wait for than any report waits: it would only be held against later ones.
      if (isBesideCalls()) leftMs = Math.max(-WAIT_MAX_MS * perMs, leftMs - workedMs);
    },
    isBesideCalls,
  };
}

/** Whether there are calls, or were within the last second: of those that ended since the last look the latest counts as now. */
function lately(clock: Clock, calls: () => CallCounts): () => boolean {
  let known = calls().settled;
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const { open, settled } = calls();
    const nowMs = clock.monotonicMs();
    if (open > 0 || settled !== known) lastMs = nowMs;
    known = settled;
    return nowMs - lastMs < CALM_AFTER_MS;
  };
}
