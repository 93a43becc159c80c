import type { Digest, DigestFigures, NotJoined } from "#shared/digest.ts";
import type { Figures, Result, Row, Spec } from "#shared/report.ts";
import { WEEKDAYS, type Weekday } from "#shared/settings.ts";

/** Milliseconds since 1970, whole days in UTC, half-open. */
export type Week = { fromMs: number; toMs: number };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;
const REPOSITORIES_MAX = 50;

/** The seven whole days before the day of `at`. */
export function weekBefore(at: Date): Week {
  const toMs = Math.floor(at.getTime() / DAY_MS) * DAY_MS;
  return { fromMs: toMs - WEEK_MS, toMs };
}

export type Schedule = { day: Weekday; hour: number };

/** The last instant at or before `now` at which a digest was due, in UTC. */
export function lastDue(now: Date, { day, hour }: Schedule): Date {
  const midnightMs = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const daysSince = (now.getUTCDay() - WEEKDAYS.indexOf(day) + 7) % 7;
  const dueMs = midnightMs - daysSince * DAY_MS + hour * HOUR_MS;
  return new Date(dueMs > now.getTime() ? dueMs - 7 * DAY_MS : dueMs);
}

/** The shortest time between digests when the schedule changes. */
export const APART_MS = 4 * DAY_MS;

/** The UTC day, such as `2026-11-23`, that identifies a digest. */
export const dueOn = (due: Date): string => due.toISOString().slice(0, 10);

/** The reports that a digest is made of, each beside the week before. */
export function digestSpecs(week: Week): { outcomes: Spec; spend: Spec } {
  const common = {
    filters: {},
    range: { from: new Date(week.fromMs).toISOString(), to: new Date(week.toMs).toISOString() },
    compare: "previous_period" as const,
    view: "table" as const,
  };
  return {
    outcomes: {
      ...common,
      source: "outcomes",
      dimensions: ["repository"],
      measures: ["cost_usd", "cost_per_merged_pr", "merged_prs", "joined_prs", "reverted_prs"],
    },
    spend: { ...common, source: "requests", dimensions: [], measures: ["cost_decomposition"] },
  };
}

/** What the sessions of reverted pull requests cost: of one repository, or (null) of all, each session once. */
export type RevertedCost = { repository: string | null; current: boolean; costUsd: number | null };

type Parts = { outcomes: Result; spend: Result; reverted: readonly RevertedCost[]; notJoined: NotJoined };

export function digestOf({ outcomes, spend, reverted, notJoined }: Parts): Digest {
  const rows = outcomes.rows.filter((row) => merged(row.current) + merged(row.previous) > 0);
  const sides = (row: Row, repository: string | null) => ({
    current: figuresOf(row.current, row.floor, costIn(reverted, repository, true)),
    previous: figuresOf(row.previous, row.previousFloor, costIn(reverted, repository, false)),
  });
  return {
    period: outcomes.window,
    previous_period: outcomes.previousWindow ?? outcomes.window,
    total: sides(outcomes.total, null),
    not_joined: notJoined,
    repositories: rows.slice(0, REPOSITORIES_MAX).map((row) => {
      const [repository = ""] = row.groups;
      return { repository, ...sides(row, repository) };
    }),
    repositories_left_out: Math.max(0, rows.length - REPOSITORIES_MAX),
    spend: spend.decomposition,
  };
}

const merged = (figures: Figures | null): number => figures?.merged_prs ?? 0;

function figuresOf(
  figures: Figures | null,
  lowerBound: boolean,
  revertedUsd: number | null,
): DigestFigures | null {
  if (figures === null) return null;
  return {
    merged_prs: merged(figures),
    joined_prs: figures.joined_prs ?? 0,
    reverted_prs: figures.reverted_prs ?? 0,
    cost_usd: figures.cost_usd ?? null,
    cost_per_merged_pr: figures.cost_per_merged_pr ?? null,
    reverted_cost_usd: figures.reverted_prs === 0 ? 0 : revertedUsd,
    lower_bound: lowerBound,
  };
}

const costIn = (costs: readonly RevertedCost[], repository: string | null, current: boolean): number | null =>
  costs.find((it) => it.repository === repository && it.current === current)?.costUsd ?? null;
