import type { DayCost } from "#gateway/reports/forecast.ts";

/** Spend of the teams of a company by day, with the days on which a team's spend jumps. */
export type World = { teams: { days: DayCost[]; spikes: Set<string> }[]; all: DayCost[] };

/** mulberry32: uniform numbers in [0, 1) that depend on the seed alone. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const DAY_MS = 86_400_000;
const MONTH_DAYS = 30.4375;
/** Ends with the last day of a month. */
const [FIRST, END] = [Date.parse("2026-01-01"), Date.parse("2026-12-01")];

/**
 * Weekday factors of 0.1 to 1 and growth of 0 to 10 % a month, for each team; lognormal noise of sigma 0.3; on 1 % of
 * team-days a spike of 3 to 6 times the weekday's median.
 */
export function worldOf(seed: number): World {
  const next = uniform(seed);
  const between = (low: number, high: number) => low + (high - low) * next();
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const count = Math.floor(between(1, 9));
  const teams = Array.from({ length: count }, () => {
    const factors = Array.from({ length: 7 }, () => between(0.1, 1));
    const growth = between(0, 0.1);
    const base = 10 ** between(1, 3);
    const days: DayCost[] = [];
    const spikes = new Set<string>();
    for (let at = FIRST; at < END; at += DAY_MS) {
      const day = new Date(at).toISOString().slice(0, 10);
      const grown = (1 + growth) ** ((at - FIRST) / DAY_MS / MONTH_DAYS);
      const usual = base * (factors[new Date(at).getUTCDay()] ?? 0) * grown;
      const isSpike = next() < 0.01;
      if (isSpike) spikes.add(day);
      days.push({ day, usd: usual * (isSpike ? between(3, 6) : Math.exp(0.3 * normal())) });
    }
    return { days, spikes };
  });
  const all = (teams[0]?.days ?? []).map(({ day }, at) => ({
    day,
    usd: teams.reduce((sum, { days }) => sum + (days[at]?.usd ?? 0), 0),
  }));
  return { teams, all };
}
