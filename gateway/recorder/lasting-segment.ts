import type { Clock } from "#shared/clock.ts";
import { isDamage } from "#shared/file-lock.ts";
import {
  type AbandonedSegment,
  createOwnSegment,
  type Entry,
  type OwnSegment,
  type OwnSegmentOptions,
} from "./own-segment.ts";
import { isUnreadable } from "./segment-faults.ts";

type LastingOptions = OwnSegmentOptions & {
  clock: Clock;
  /** Called with the segment that was left behind, once a new one is in its place. */
  onAbandoned: (left: AbandonedSegment, why: unknown) => void;
};

/** A disk that damages every file must not get a new one at every call. */
const RENEWED_EVERY_MS = 5000;

/** This process's segment; an unreadable one is replaced, so that a bad page holds no later records back. */
export function createLastingSegment(options: LastingOptions): OwnSegment {
  let current = createOwnSegment(options);
  let takenFrom = current;
  let usedBytes = 0;
  let renewedMs = Number.NEGATIVE_INFINITY;

  function renew(error: unknown): void {
    const nowMs = options.clock.monotonicMs();
    if (nowMs - renewedMs < RENEWED_EVERY_MS) throw error;
    const next = createOwnSegment(options, current.runningIds());
    renewedMs = nowMs;
    const left = current.abandon();
    current = next;
    options.onAbandoned(left, error);
  }

  function write(entries: readonly Entry[]): void {
    try {
      current.write(entries);
    } catch (error) {
      if (!isDamage(error)) throw error;
      renew(error);
      current.write(entries);
    }
  }

  return {
    get path() {
      return current.path;
    },
    write,
    forget: (id) => current.forget(id),
    pending: {
      take(rowsMax) {
        takenFrom = current;
        try {
          return current.pending.take(rowsMax);
        } catch (error) {
          if (!isUnreadable(error)) throw error;
          renew(error);
          return [];
        }
      },
      drop(rows) {
        // Numbers of a segment that was left behind mean other rows here; what is sent twice is stored once.
        if (takenFrom === current) current.pending.drop(rows);
      },
      mark() {
        const marked = current;
        const isReached = marked.pending.mark();
        return () => marked !== current || isReached();
      },
      oldestAt: () => unlessDamaged(() => current.pending.oldestAt(), null),
      backlog: () => current.pending.backlog(),
    },
    sweep: () => current.sweep(),
    running: () => current.running(),
    isRunning: (id) => current.isRunning(id),
    runningIds: () => current.runningIds(),
    parkedCount: () => unlessDamaged(() => current.parkedCount(), 0),
    usedBytes() {
      usedBytes = unlessDamaged(() => current.usedBytes(), usedBytes);
      return usedBytes;
    },
    leave: () => current.leave(),
  };
}

/** Figures for metrics: the next read or write notices the damage and renews the segment. */
function unlessDamaged<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return otherwise;
  }
}
