import type { LinkState } from "#drizzle/schema/github.ts";
import type { SessionCost } from "#drizzle/session-cost.ts";
import { counted } from "#shared/plural.ts";
import { costNotes } from "#shared/shared-session.ts";
import { usdText } from "#shared/usd-text.ts";

export type CommentFacts = {
  link: LinkState;
  session: string | null;
  figures: SessionCost | null;
  /** Merged pull requests that name the session, this one included. */
  sharedBy: number;
};

/** The comment's first line, by which the App finds its comment again. */
export const COMMENT_MARKER = "<!-- tallygate:pull-request-cost -->";

/** The comment on a merged pull request: figures, a session id and fixed words, and no text of other people. */
export function commentText(facts: CommentFacts): string {
  return [COMMENT_MARKER, ...linesOf(facts)].join("\n");
}

function linesOf({ link, session, figures, sharedBy }: CommentFacts): string[] {
  if (link !== "joined" || session === null || figures === null) return [UNKNOWN[link] ?? UNKNOWN.no_stamp];
  const calls = `${counted(figures.requests, "call")}`;
  if (figures.costUsd === null) {
    return [
      `The cost of this pull request is not known: its session \`${session}\` made ${calls} without a known cost.`,
    ];
  }
  const least = figures.isLowerBound ? "at least " : "";
  return [
    `**AI cost of this pull request: ${least}${usdText(figures.costUsd)}** (${calls} of session \`${session}\`)`,
    ...costNotes({ ...figures, merged: sharedBy, isMerged: true }).flatMap((note) => ["", note]),
  ];
}

const UNKNOWN: Partial<Record<LinkState, string>> & { no_stamp: string } = {
  no_stamp: "The cost of this pull request is not known: its description no longer names a session.",
  conflict:
    "The cost of this pull request is not known: its description names more than one session, so its session is unknown.",
  claimed:
    "The cost of this pull request is not shown: its author comes from outside, and an administrator has not accepted its session.",
  unknown_session:
    "The cost of this pull request is not known: no call of the session that its description names is recorded.",
};
