/** What GitHub counts together: REST and GraphQL each have a limit of their own. */
export type Resource = "core" | "graphql";

/** How many calls GitHub still accepts in the current window, according to its answers. */
export type Budget = {
  /** How many calls may be under way at `nowMs` (Unix milliseconds): each may still be counted. */
  left(of: Resource, nowMs: number): number;
  /** Reads the limit that an answer shows. */
  note(of: Resource, answer: Response): void;
};

export function createBudget(): Budget {
  const windows = new Map<Resource, { left: number; resetMs: number }>();
  return {
    left: (of, nowMs) => {
      const window = windows.get(of);
      return window && window.resetMs > nowMs ? window.left : Number.POSITIVE_INFINITY;
    },
    note: (of, { headers }) => {
      const [remaining, reset] = ["remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`));
      if (!remaining || !reset) return;
      const resetMs = Number(reset) * 1000;
      const known = windows.get(of);
      if (known && known.resetMs > resetMs) return;
      // Answers may overtake each other; within a window the least is the latest.
      const isSame = known?.resetMs === resetMs;
      const left = isSame ? Math.min(known.left, Number(remaining)) : Number(remaining);
      windows.set(of, { left, resetMs });
    },
  };
}
