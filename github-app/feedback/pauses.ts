import type { Clock } from "#shared/clock.ts";
import { waitMsOf } from "../github/octokit.ts";
import { lacksPermission } from "./job-run.ts";

/** A permission is granted by a person, who may do so at any time. */
const PERMISSION_MS = 300_000;

/** What is not asked of GitHub for a while: all of an installation, or one kind of thing there. */
export type Pauses = {
  holds(kind: string, installationId: number): boolean;
  /** Learns from a failure how long to leave GitHub alone. */
  learn(error: unknown, kind: string, installationId: number): void;
};

export function createPauses(clock: Clock): Pauses {
  const until = new Map<string, number>();
  const put = (name: string, ms: number) => until.set(name, clock.monotonicMs() + ms);
  return {
    holds: (kind, installationId) =>
      [`${installationId}`, `${installationId} ${kind}`].some(
        (name) => (until.get(name) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs(),
      ),
    learn: (error, kind, installationId) => {
      const waitMs = waitMsOf(error, clock.now());
      if (waitMs !== null) put(`${installationId}`, waitMs);
      else if (lacksPermission(error)) put(`${installationId} ${kind}`, PERMISSION_MS);
    },
  };
}

/** Lets `perMinute` things through a minute, and as many at once after a quiet minute. */
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
