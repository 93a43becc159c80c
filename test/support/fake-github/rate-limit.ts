export type RateLimit = { limit: number; windowMs: number };

const LEAST: RateLimit = { limit: 5000, windowMs: 3_600_000 };

/** GitHub's primary limit: calls in a window, counted by installation, whatever its token. */
export function createRateLimit(now: () => Date, { limit, windowMs }: RateLimit = LEAST) {
  const windows = new Map<string, { used: number; resetAt: number }>();
  const windowOf = (caller: string) => {
    const at = now().getTime();
    const open = windows.get(caller);
    const window = open && open.resetAt > at ? open : { used: 0, resetAt: at + windowMs };
    windows.set(caller, window);
    return window;
  };
  return {
    /** Callers are forgotten: everybody may ask again. */
    clear: () => windows.clear(),
    /** An answer that nothing changed is not counted. */
    giveBack: (caller: string) => {
      windowOf(caller).used--;
    },
    take: (caller: string) => {
      const window = windowOf(caller);
      const refused = window.used >= limit;
      if (!refused) window.used++;
      return { refused, waitMs: window.used >= limit ? window.resetAt - now().getTime() : 0 };
    },
    headers: (caller: string) => {
      const window = windowOf(caller);
      return {
        "x-ratelimit-limit": String(limit),
        "x-ratelimit-remaining": String(limit - window.used),
        "x-ratelimit-used": String(window.used),
        "x-ratelimit-reset": String(Math.ceil(window.resetAt / 1000)),
        "x-ratelimit-resource": "core",
      };
    },
  };
}
