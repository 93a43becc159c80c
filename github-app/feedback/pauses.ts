import type { Clock } from "#shared/clock.ts";
import { waitMsOf } from "../github/octokit.ts";
import { lacksPermission } from "./job.ts";

/** A person may grant a permission at any time. */
const PERMISSION_MS = 300_000;

/** Installations, or kinds of work in them, for which GitHub is not called for a while. */
export type Pauses = {
  isPaused(kind: string, installationId: number): boolean;
  /** Pauses for as long as the failure of a call requires. */
  add(error: unknown, kind: string, installationId: number): void;
};

export function createPauses(clock: Clock): Pauses {
  const untilMs = new Map<string, number>();
  const pause = (name: string, ms: number) => untilMs.set(name, clock.monotonicMs() + ms);
  return {
    isPaused: (kind, installationId) =>
      [`${installationId}`, `${installationId} ${kind}`].some(
        (name) => (untilMs.get(name) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs(),
      ),
    add: (error, kind, installationId) => {
      const waitMs = waitMsOf(error, clock.now());
      if (waitMs !== null) pause(`${installationId}`, waitMs);
      else if (lacksPermission(error)) pause(`${installationId} ${kind}`, PERMISSION_MS);
    },
  };
}

/** Allows `perMinute` calls a minute, and as many at once after a quiet minute. */
export function createAllowance(clock: Clock, perMinute: number): () => boolean {
  let left = perMinute;
  let at = clock.monotonicMs();
  return () => {
    const now = clock.monotonicMs();
    left = Math.min(perMinute, left + ((now - at) / 60_000) * perMinute);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
