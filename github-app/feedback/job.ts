import type { Database } from "#drizzle/database.ts";
import type { Lease } from "#drizzle/leases/lease.ts";
import type { Clock } from "#shared/clock.ts";
import type { Settings } from "#shared/settings.ts";
import type { Github } from "../github/octokit.ts";
import { statusOf } from "../github/wait.ts";
import type { FeedbackPlace } from "./place.ts";

export type JobDeps = { database: Database; clock: Clock };

/** A kind of work on GitHub: how due items are found, leased and done. */
export type Job<Due extends FeedbackPlace, Row> = {
  kind: "check" | "comment" | "digest" | "commits";
  /** `waiting`: installations whose work is left out, so that it takes no other's place in the list. */
  due(now: Date, settings: Settings, waiting: readonly number[]): Promise<Due[]>;
  /** Null: another process has it. */
  take(due: Due): Promise<Lease<Row> | null>;
  /** Whether the settings ask for it at this moment. */
  isWanted(settings: Settings): boolean;
  /** Resolves with the values to store in the row. */
  run(work: Work<Due, Row>): Promise<Partial<Row>>;
};

export type Work<Due, Row> = {
  due: Due;
  lease: Lease<Row>;
  octokit: Github;
  /** The App's id, by which it recognises its own comments, issues and check runs. */
  appId: number;
  now: Date;
};

/** Long enough for all calls to GitHub about one pull request. */
export const LEASE_MS = 90_000;

/** For requests that create something: one that failed may have succeeded on GitHub, so it is not retried. */
export const ONCE = { request: { retries: 0 } } as const;

/** Whether GitHub refuses all writes there: the conversation is locked, or the repository is archived. */
export const isClosedToAll = (error: unknown): boolean =>
  statusOf(error) === 403 && error instanceof Error && /\b(is|was) (locked|archived)\b/i.test(error.message);

/** The result of `request`; null: the object no longer exists on GitHub. */
export async function unlessGone<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 410) return null;
    throw error;
  }
}
