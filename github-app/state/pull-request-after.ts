import type { LinkEvidence, pullRequests } from "#drizzle/schema/github.ts";
import type { PullRequestFacts } from "../facts/facts.ts";
import { joinEvidence, type Rule } from "./evidence.ts";
import { earliest, later } from "./later.ts";

export type PullRequestState = Omit<typeof pullRequests.$inferSelect, "orgId">;

/** Facts and the delivery that reported them; null: they were read from GitHub's API. */
export type Reported<Facts> = { deliveryId: string | null; facts: Facts };

/**
 * A pull request after one more report of it. Reports may arrive in any order, repeatedly or not at all; the result
 * depends only on their set: a merge is final, the latest body counts (within a second, an edited one), and an edit
 * after the merge is remembered. `link` is not final: see `linkAfter`.
 */
export function pullRequestAfter(
  state: PullRequestState | null,
  report: Reported<PullRequestFacts>,
): PullRequestState {
  const seen = stateOf(report);
  return state === null ? seen : join(state, seen);
}

function stateOf({ deliveryId, facts }: Reported<PullRequestFacts>): PullRequestState {
  const { body } = facts;
  return {
    repositoryId: facts.repositoryId,
    number: facts.number,
    state: facts.merged ? "merged" : facts.open ? "open" : "closed",
    authorLogin: facts.authorLogin,
    authorIsBot: facts.authorIsBot,
    authorAssociation: facts.authorAssociation,
    fromFork: facts.fromFork,
    headBranch: facts.headBranch ?? null,
    headRepository: facts.headRepository ?? null,
    baseBranch: facts.baseBranch ?? null,
    kind: facts.kind ?? null,
    ...(facts.size ?? { additions: null, deletions: null, changedFiles: null }),
    sizeAt: facts.size ? body.at : null,
    acceptedSession: null,
    openedAt: facts.openedAt,
    mergedAt: facts.merged?.at ?? null,
    mergeCommitSha: facts.merged?.sha ?? null,
    link: "open",
    sessionIds: body.sessionIds,
    session: onlyOne(body.sessionIds),
    bodySha256: body.sha256,
    bodyAt: body.at,
    bodyEdited: body.edited,
    editedAfterMerge: facts.editedAfterMerge,
    revertsByBranch: facts.revertsByBranch,
    revertsByBody: body.revertsByBody,
    revertsBySha: body.revertsBySha,
    evidence: evidenceOf(deliveryId, facts),
  };
}

/** The member of a list of exactly one; else null. */
export const onlyOne = (ids: readonly string[]): string | null =>
  ids.length === 1 ? (ids[0] ?? null) : null;

function evidenceOf(deliveryId: string | null, { body, merged, editedAfterMerge }: PullRequestFacts) {
  const entry = (rule: Rule, sessionIds: string[] = [], diagnostics: string[] = []): LinkEvidence => ({
    deliveryId,
    rule,
    sessionIds,
    diagnostics,
    at: body.at,
  });
  const bodyRule = (["body_none", "body_one"] as const)[body.sessionIds.length] ?? "body_conflict";
  const entries = [entry(bodyRule, body.sessionIds, body.diagnostics)];
  if (merged) entries.push(entry("merged"));
  if (editedAfterMerge) entries.push(entry("edited_after_merge"));
  return joinEvidence(entries, []);
}

function join(a: PullRequestState, b: PullRequestState): PullRequestState {
  const mergedAt = earliest(a.mergedAt, b.mergedAt);
  return {
    // The author and the facts of the body belong together, from one report.
    ...later(a, b, reportKey),
    ...sizeIn(later(a, b, sizeKey)),
    state: mergedAt === null ? stateWithoutMerge(a, b) : "merged",
    openedAt: earliest(a.openedAt, b.openedAt),
    mergedAt,
    mergeCommitSha: earliest(a.mergeCommitSha, b.mergeCommitSha),
    link: a.link,
    // Only an administrator sets it, in the row.
    acceptedSession: a.acceptedSession ?? b.acceptedSession,
    editedAfterMerge: a.editedAfterMerge || b.editedAfterMerge,
    evidence: joinEvidence(a.evidence, b.evidence),
  };
}

const sizeIn = ({ additions, deletions, changedFiles, sizeAt }: PullRequestState) => ({
  additions,
  deletions,
  changedFiles,
  sizeAt,
});
const sizeKey = ({ sizeAt, additions, deletions, changedFiles }: PullRequestState) => [
  ...[sizeAt ?? "", additions ?? 0, deletions ?? 0, changedFiles ?? 0],
];

const reportKey = (it: PullRequestState) => [
  it.bodyAt ?? "",
  it.bodyEdited,
  it.bodySha256 ?? "",
  // Only to break ties between reports with the same body.
  JSON.stringify([it.sessionIds, it.revertsByBody, it.revertsBySha]),
  JSON.stringify([it.authorLogin, it.authorIsBot, it.authorAssociation, it.fromFork, it.revertsByBranch]),
  JSON.stringify([it.headBranch, it.headRepository, it.baseBranch, it.kind]),
];

function stateWithoutMerge(a: PullRequestState, b: PullRequestState): PullRequestState["state"] {
  if (a.bodyAt === b.bodyAt) return a.state === "closed" || b.state === "closed" ? "closed" : "open";
  return later(a, b, (it) => [it.bodyAt ?? ""]).state;
}
