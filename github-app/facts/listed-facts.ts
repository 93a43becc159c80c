import { fits } from "#shared/schema.ts";
import type { PullRequestFacts, ReviewFacts } from "./facts.ts";
import { PullRequestPayload, ReviewPayload } from "./payloads.ts";
import { pullRequestFacts, reviewFacts } from "./pull-request-facts.ts";

/** A repository, and the installation through which the App may read it. */
export type RepositoryAccess = { id: number; fullName: string; installationId: number };

const payloadOf = ({ id, fullName, installationId }: RepositoryAccess) => ({
  action: "listed",
  installation: { id: installationId },
  repository: { id, full_name: fullName },
});

/** GitHub's times are whole seconds. */
const LAST_MS = 999;

/**
 * Facts of a pull request in GitHub's list as of `readAt`; null: a required member is missing. They count as of the end
 * of the second of `updated_at`, so they win against every delivery of that second, unless it was not over yet.
 */
export function listedPullRequest(
  repository: RepositoryAccess,
  item: { merged_at: string | null; updated_at: string },
  readAt: Date,
): PullRequestFacts | null {
  const payload = {
    ...payloadOf(repository),
    pull_request: { ...item, merged: item.merged_at !== null },
  };
  if (!fits(PullRequestPayload, payload)) return null;
  const facts = pullRequestFacts(payload);
  const endMs = Date.parse(facts.body.at) + LAST_MS;
  const at = endMs < readAt.getTime() ? new Date(endMs).toISOString() : facts.body.at;
  return { ...facts, sightings: [], body: { ...facts.body, at } };
}

/**
 * Facts of a review in GitHub's list; null: it was not submitted, or a required member is missing. GitHub does not say
 * when a review was edited, so they count as of `readAt`.
 */
export function listedReview(
  { repository, pullRequest, readAt }: ReviewSource,
  item: object,
): ReviewFacts | null {
  const submitted = "submitted_at" in item && item.submitted_at !== null;
  const payload = { ...payloadOf(repository), pull_request: pullRequest, review: item };
  if (!submitted || !fits(ReviewPayload, payload)) return null;
  const facts = reviewFacts(payload);
  return { ...facts, sightings: [], body: { ...facts.body, at: readAt.toISOString() } };
}

export type ReviewSource = {
  repository: RepositoryAccess;
  pullRequest: { number: number; updated_at: string };
  readAt: Date;
};
