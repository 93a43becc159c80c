import type { reviews } from "#drizzle/schema/github.ts";
import type { ReviewFacts } from "../facts/facts.ts";
import { earliest, later } from "./later.ts";
import { onlyOne } from "./pull-request-after.ts";

export type ReviewState = Omit<typeof reviews.$inferSelect, "orgId">;

/** A review after one more report, in any order (`pullRequestAfter`): the latest body, and dismissals are final. */
export function reviewAfter(state: ReviewState | null, facts: ReviewFacts): ReviewState {
  const seen = stateOf(facts);
  if (state === null) return seen;
  return {
    ...later(state, seen, reportKey),
    submittedAt: earliest(state.submittedAt, seen.submittedAt) ?? seen.submittedAt,
    dismissed: state.dismissed || seen.dismissed,
  };
}

const stateOf = (facts: ReviewFacts): ReviewState => ({
  repositoryId: facts.repositoryId,
  id: facts.id,
  number: facts.number,
  reviewerLogin: facts.reviewerLogin,
  submittedAt: facts.submittedAt,
  dismissed: facts.dismissed,
  sessionIds: facts.body.sessionIds,
  session: onlyOne(facts.body.sessionIds),
  bodyAt: facts.body.at,
  bodyEdited: facts.body.edited,
});

const reportKey = (it: ReviewState) => [
  it.bodyAt ?? "",
  it.bodyEdited,
  JSON.stringify([it.sessionIds, it.reviewerLogin]),
];
