const FIRST_MS = 250;
const MAX_MS = 10_000;

/** Milliseconds before a restart: 250 after it was ready, else twice `previousMs` (0 at first), up to 10 s. */
export function restartDelayMs(previousMs: number, wasReady: boolean): number {
  if (previousMs === 0 || wasReady) return FIRST_MS;
  return Math.min(MAX_MS, previousMs * 2);
}

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish);
  });
}
