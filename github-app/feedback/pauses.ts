import type { Clock } from "#shared/clock.ts";
import { lacksPermission } from "../github/wait.ts";

/** A person may grant a permission at any time. */
const PERMISSION_MS = 300_000;

export type Pauses = ReturnType<typeof createPauses>;

/** Kinds of work in an installation for which a permission is missing. */
export function createPauses(clock: Clock) {
  const untilMs = new Map<string, number>();
  return {
    isPaused: (kind: string, installationId: number): boolean =>
      (untilMs.get(`${installationId} ${kind}`) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs(),
    /** Ends all pauses. */
    clear: () => untilMs.clear(),
    /** Pauses if the failure of a call was a missing permission. */
    add: (error: unknown, kind: string, installationId: number): void => {
      if (!lacksPermission(error)) return;
      untilMs.set(`${installationId} ${kind}`, clock.monotonicMs() + PERMISSION_MS);
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
