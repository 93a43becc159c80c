import { type Github, statusOf } from "../github/octokit.ts";
import { CLAIM_MS_MAX } from "./feedback-store.ts";

/** One thing that this process alone has claimed, and the way to GitHub for it. */
export type JobRun = {
  octokit: Github;
  /** The App's id: by it the App knows its own comments, issues and check runs. */
  appId: number;
  now: Date;
  /** Passes while the thing is surely its own. To be asked right before something is made at GitHub. */
  held(): void;
};

/** For calls that make something: one that failed may have made it all the same, so it is never sent again by itself. */
export const ONCE = { request: { retries: 0 } } as const;

/** `held` of a thing that was claimed at `sinceMs` of the monotonic clock. */
export const heldSince = (monotonicMs: () => number, sinceMs: number) => () => {
  if (monotonicMs() - sinceMs > CLAIM_MS_MAX)
    throw new Error("it took too long, and another may have claimed it");
};

/** Whether GitHub says that the App lacks a permission, which no trying again mends. */
export const lacksPermission = (error: unknown): boolean =>
  statusOf(error) === 403 &&
  error instanceof Error &&
  error.message.includes("Resource not accessible by integration");

/** What `work` gives; null where GitHub does not know the thing any more. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 410) return null;
    throw error;
  }
}
