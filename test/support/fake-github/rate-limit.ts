export type RateLimit = { limit: number; windowMs: number };

const LEAST: RateLimit = { limit: 5000, windowMs: 3_600_000 };

/** GitHub's primary limit: calls in a window, counted by token. */
export function createRateLimit(now: () => Date, { limit, windowMs }: RateLimit = LEAST) {
  const windows = new Map<string, { used: number; resetAt: number }>();
  return {
    /** Tokens are forgotten: everybody may ask again. */
    clear: () => windows.clear(),
    take: (authorization: string | null) => {
      const token = authorization ?? "";
      const at = now().getTime();
      const open = windows.get(token);
      const window = open && open.resetAt > at ? open : { used: 0, resetAt: at + windowMs };
      windows.set(token, window);
      const refused = window.used >= limit;
      if (!refused) window.used++;
      return {
        refused,
        headers: {
          "x-ratelimit-limit": String(limit),
          "x-ratelimit-remaining": String(limit - window.used),
          "x-ratelimit-used": String(window.used),
          "x-ratelimit-reset": String(Math.ceil(window.resetAt / 1000)),
          "x-ratelimit-resource": "core",
        },
      };
    },
  };
}
