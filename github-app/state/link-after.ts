import type { LinkState } from "#drizzle/schema/github.ts";
import { joinEvidence, withoutRule } from "./evidence.ts";
import type { PullRequestState } from "./pull-request-after.ts";

/**
 * The pull request with its link and the evidence for it. `firstRequestAt` is when the session's first recorded request
 * began; null: none is known. A session that was once known stays known: its records may have expired since.
 */
export function linkAfter(
  before: PullRequestState | null,
  after: PullRequestState,
  firstRequestAt: string | null,
): PullRequestState {
  const knownAt = firstRequestAt ?? formerlyKnownAt(before, after);
  const link = linkOf(after, knownAt !== null);
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

function linkOf({ state, sessionIds }: PullRequestState, known: boolean): LinkState {
  if (state === "open") return "open";
  if (state === "closed") return "not_merged";
  if (sessionIds.length === 0) return "no_stamp";
  if (sessionIds.length > 1) return "conflict";
  return known ? "joined" : "unknown_session";
}

function formerlyKnownAt(before: PullRequestState | null, after: PullRequestState): string | null {
  if (before?.link !== "joined" || before.session !== after.session) return null;
  return before.evidence.find((entry) => entry.rule === "request_known")?.at ?? null;
}
