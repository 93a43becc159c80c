/** How long to wait after `attempts` failures before the one that just happened: `fromMs`, doubled by each, at most `maxMs`. */
export const backOffMs = (attempts: number, { fromMs, maxMs }: { fromMs: number; maxMs: number }): number =>
  Math.min(fromMs * 2 ** Math.min(attempts, 30), maxMs);
