import { fits } from "#shared/schema.ts";
import type { PullRequestFacts, ReviewFacts } from "../facts/facts.ts";
import { PullRequestPayload, ReviewPayload } from "../facts/payloads.ts";
import { pullRequestFacts, reviewFacts } from "../facts/pull-request-facts.ts";

/** The repository that is asked about, through one of its installations. */
export type AskedRepository = { id: number; fullName: string; installationId: number };

const placeOf = ({ id, fullName, installationId }: AskedRepository) => ({
  action: "asked",
  installation: { id: installationId },
  repository: { id, full_name: fullName },
});

/**
 * What GitHub's list says of a pull request at `askedAt`, or null when a member is missing. It stands for the whole
 * second of its `updated_at`, the end of it included: so it wins against every delivery of that second, unless that
 * second was not over yet.
 */
export function askedPullRequest(
  repository: AskedRepository,
  item: { merged_at: string | null; updated_at: string },
  askedAt: Date,
): PullRequestFacts | null {
  const payload = {
    ...placeOf(repository),
    pull_request: { ...item, merged: item.merged_at !== null },
  };
  if (!fits(PullRequestPayload, payload)) return null;
  const facts = pullRequestFacts(payload);
  const endMs = Date.parse(facts.body.at) + LAST_MS;
  const at = endMs < askedAt.getTime() ? new Date(endMs).toISOString() : facts.body.at;
  return { ...facts, sightings: [], body: { ...facts.body, at } };
}

/** GitHub's times are whole seconds. */
const LAST_MS = 999;

/**
 * What GitHub says of a review at `askedAt`; null for one that was not submitted or that lacks a member. GitHub does
 * not tell when a review was edited, so the time of asking stands for it.
 */
export function askedReview(
  repository: AskedRepository,
  of: { number: number; updated_at: string },
  item: object,
  askedAt: Date,
): ReviewFacts | null {
  const submitted = "submitted_at" in item && item.submitted_at !== null;
  const payload = { ...placeOf(repository), pull_request: of, review: item };
  if (!submitted || !fits(ReviewPayload, payload)) return null;
  const facts = reviewFacts(payload);
  return { ...facts, sightings: [], body: { ...facts.body, at: askedAt.toISOString() } };
}
