import { isFromOutside } from "#drizzle/claims.ts";
import type { LinkState } from "#drizzle/schema/github.ts";
import { joinEvidence, withoutRule } from "./evidence.ts";
import type { PullRequestState } from "./pull-request-after.ts";

/** Facts about a pull request's session from the gateway and from GitHub. */
export type Known = {
  /** When the session's first recorded request began; null: none is known. */
  firstRequestAt: string | null;
  /** Whether the pull request's author owns a key that made requests of the session. */
  isOwners: boolean;
  /** Whether the repository is public; true if unknown. */
  isPublic: boolean;
};

/** The pull request with link and evidence. A once known session stays: its records may have expired. */
export function linkAfter(
  before: PullRequestState | null,
  after: PullRequestState,
  { firstRequestAt, isOwners, isPublic }: Known,
): PullRequestState {
  const formerly = formerlyKnownAt(before, after);
  const knownAt = firstRequestAt ?? formerly;
  const isClaim = formerly === null && isPublic && !isOwners && isFromOutside(after) && !isAccepted(after);
  const link = linkOf(after, { isKnown: knownAt !== null, isClaim });
  const evidence = withoutRule(after.evidence, "request_known");
  if (link !== "joined" || knownAt === null) return { ...after, link, evidence };
  const known = {
    deliveryId: null,
    rule: "request_known",
    sessionIds: after.sessionIds,
    diagnostics: [],
    at: knownAt,
  };
  return { ...after, link, evidence: joinEvidence(evidence, [known]) };
}

const isAccepted = ({ acceptedSession, session }: PullRequestState): boolean =>
  acceptedSession !== null && acceptedSession === session;

function linkOf(
  { state, sessionIds }: PullRequestState,
  { isKnown, isClaim }: { isKnown: boolean; isClaim: boolean },
): LinkState {
  if (state === "open") return "open";
  if (state === "closed") return "not_merged";
  if (sessionIds.length === 0) return "no_stamp";
  if (sessionIds.length > 1) return "conflict";
  if (isClaim) return "claimed";
  return isKnown ? "joined" : "unknown_session";
}

function formerlyKnownAt(before: PullRequestState | null, after: PullRequestState): string | null {
  if (before?.link !== "joined" || before.session !== after.session) return null;
  return before.evidence.find((entry) => entry.rule === "request_known")?.at ?? null;
}
