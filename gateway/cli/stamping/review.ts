import { Type } from "@sinclair/typebox";
import type { SessionId } from "#shared/labels.ts";
import { nullable, open } from "#shared/schema.ts";
import type { Git } from "./git.ts";
import type { GithubApi } from "./github.ts";
import {
  locatePullRequest,
  ownLogin,
  type PullRequest,
  type PullRequestChoice,
  pagesOf,
  pathOf,
  refusal,
} from "./pull-request.ts";
import { noPullRequest } from "./stamp.ts";
import { notStamped, type Stamped, writeLine } from "./stamp-target.ts";
import { knownSession } from "./task.ts";

export type ReviewOptions = PullRequestChoice & {
  /** GitHub's id; null: the latest review by the token's owner. */
  review: number | null;
  /** Null: taken from the branch, a wrapper or the agent. */
  session: SessionId | null;
  dryRun: boolean;
};

const ReviewBody = open({
  id: Type.Integer(),
  html_url: Type.String(),
  state: Type.String(),
  body: nullable(Type.String()),
  user: nullable(open({ login: Type.String() })),
});
type Review = typeof ReviewBody.static;

/**
 * Writes the session in which a review was made into its body, so that the review counts. A review that already names a
 * session keeps it; repeating this changes nothing.
 * @throws Error if git or GitHub refuses.
 */
export async function stampReview(git: Git, github: GithubApi, options: ReviewOptions): Promise<Stamped> {
  const found = await locatePullRequest(git, github, options);
  if (found === null) return noPullRequest(options.number);
  const session = options.session ?? (await knownSession(git, null));
  if (session === null) return notStamped(found.url, UNKNOWN);
  const { review: id } = options;
  const review = id === null ? await ownReview(github, found) : await reviewBy(github, found, id);
  if (review === null) {
    return notStamped(
      found.url,
      id === null ? `You have not submitted a review of ${found.url}.` : `${found.url} has no review ${id}.`,
    );
  }
  const bearer = {
    url: review.html_url,
    body: review.body,
    write: async (body: string) => {
      const { status } = await github.ask("PUT", `${reviewsPath(found)}/${review.id}`, { body });
      if (status !== 200) throw refusal(status, `change review ${review.id}`, found);
    },
    reread: async () => (await reviewBy(github, found, review.id))?.body ?? null,
    harm: "it does not count",
  };
  return await writeLine(bearer, session, options.dryRun);
}

const UNKNOWN =
  "This review's session is unknown. Review with `tallygate run -- <agent>`, or name it with --session.";

const isSubmitted = ({ state }: Review): boolean => state !== "PENDING";

/** The latest review submitted by the token's owner. */
async function ownReview(github: GithubApi, it: PullRequest): Promise<Review | null> {
  const login = await ownLogin(github);
  // A workflow's token, for one.
  if (login === null)
    throw new Error("GitHub does not report who owns this token. Name the review with --review <id>.");
  const own = (await reviewsOf(github, it)).filter(
    (review) => isSubmitted(review) && review.user?.login === login,
  );
  return own.at(-1) ?? null;
}

const reviewBy = async (github: GithubApi, it: PullRequest, id: number): Promise<Review | null> =>
  (await reviewsOf(github, it)).find((review) => review.id === id && isSubmitted(review)) ?? null;

/** All of its reviews, oldest first. */
async function reviewsOf(github: GithubApi, it: PullRequest): Promise<Review[]> {
  const reviews = { path: `pulls/${it.number}/reviews`, item: ReviewBody, what: "read the reviews" };
  return (await Array.fromAsync(pagesOf(github, it, reviews))).flat();
}

const reviewsPath = (it: PullRequest): string => `${pathOf(it)}/pulls/${it.number}/reviews`;
