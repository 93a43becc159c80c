import type { Static } from "@sinclair/typebox";
import { readSessionLine } from "#shared/session-line.ts";
import { isSingleLine } from "#shared/text-length.ts";
import { kindOfBranches } from "./branch-kind.ts";
import type { PullRequestFacts, ReviewFacts } from "./facts.ts";
import type { PullRequestPayload, ReviewPayload } from "./payloads.ts";
import { readRevertBranch, readRevertClaims } from "./revert.ts";
import { checkedTime, installedOn, sightingOf } from "./sighting.ts";

/** Session ids kept of one body: two are already a conflict. */
const SESSION_IDS_MAX = 10;

export function pullRequestFacts(payload: Static<typeof PullRequestPayload>): PullRequestFacts {
  const { action, pull_request: it } = payload;
  const at = checkedTime(it.updated_at);
  const edited = action === "edited" && payload.changes?.body !== undefined;
  const claims = readRevertClaims(it.body);
  return {
    action,
    installation: installedOn(payload),
    sightings: [sightingOf(payload, at)],
    repositoryId: payload.repository.id,
    number: it.number,
    open: it.state === "open",
    openedAt: checkedTime(it.created_at),
    // Not by `merge_commit_sha`, which is also set on pull requests that were not merged.
    merged: it.merged
      ? { at: checkedTime(it.merged_at ?? it.updated_at), sha: parseSha(it.merge_commit_sha) }
      : null,
    editedAfterMerge: edited && it.merged === true,
    authorLogin: it.user?.login ?? null,
    authorIsBot: it.user?.type === "Bot",
    authorAssociation: it.author_association ?? null,
    fromFork: it.head.repo === undefined ? null : it.head.repo?.id !== payload.repository.id,
    headBranch: branchOf(it.head.ref),
    headRepository: it.head.repo?.full_name?.toLowerCase() ?? null,
    baseBranch: branchOf(it.base?.ref),
    kind: it.base ? kindOfBranches(it.head.ref, it.base.ref, it.base.repo?.default_branch) : null,
    size: sizeOf(it),
    revertsByBranch: readRevertBranch(it.head.ref),
    body: {
      ...bodyFacts(it.body, at, edited),
      sha256: new Bun.CryptoHasher("sha256").update(it.body ?? "").digest("hex"),
      revertsByBody: claims.byBody,
      revertsBySha: claims.bySha,
    },
  };
}

const branchOf = (ref: string | undefined): string | null =>
  ref !== undefined && isSingleLine(ref, 255) ? ref : null;

type Size = Pick<
  Static<typeof PullRequestPayload>["pull_request"],
  "additions" | "deletions" | "changed_files"
>;
const sizeOf = ({ additions, deletions, changed_files: changedFiles }: Size) =>
  additions === undefined || deletions === undefined || changedFiles === undefined
    ? null
    : { additions, deletions, changedFiles };

const parseSha = (text: string | null | undefined): string | null =>
  text && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;

export function reviewFacts(payload: Static<typeof ReviewPayload>): ReviewFacts {
  const { action, review: it } = payload;
  const pullRequestAt = checkedTime(payload.pull_request.updated_at);
  const submittedAt = it.submitted_at === null ? pullRequestAt : checkedTime(it.submitted_at);
  const changedAt = it.updated_at ? checkedTime(it.updated_at) : pullRequestAt;
  const at = action === "submitted" || changedAt < submittedAt ? submittedAt : changedAt;
  return {
    action,
    installation: installedOn(payload),
    sightings: [sightingOf(payload, at)],
    repositoryId: payload.repository.id,
    number: payload.pull_request.number,
    id: it.id,
    reviewerLogin: it.user?.login ?? null,
    submittedAt,
    dismissed: it.state.toLowerCase() === "dismissed",
    body: bodyFacts(it.body, at, action === "edited"),
  };
}

function bodyFacts(body: string | null, at: string, edited: boolean) {
  const { ids, diagnostics } = readSessionLine(body);
  return {
    at,
    edited,
    sessionIds: [...ids.slice(0, SESSION_IDS_MAX)],
    diagnostics: [...diagnostics],
  };
}
