import type { CommitClaim } from "#drizzle/schema/feedback.ts";
import { markdownLines } from "#shared/markdown-lines.ts";

/** A pull request that a body claims to revert; `repository` is `owner/name` as written; null: the body's own. */
type RevertReference = { repository: string | null; number: number };

export type RevertClaims = { byBody: RevertReference[]; bySha: string[] };

/** Claims kept of one body, in each of its two forms. */
const CLAIMS_MAX = 20;
/** The columns' maximum, far above any real pull request's number. */
const NUMBER_MAX = 2_147_483_647;

/** Claims kept of one pull request's commits. */
const COMMIT_CLAIMS_MAX = 250;
const LINE_END = /\r\n|\n|\r/;

const BY_NUMBER =
  /^ {0,3}Reverts (?:([A-Za-z0-9_.-]{1,100}\/[A-Za-z0-9_.-]{1,100}))?#(\d{1,10})[ \t]*\.?[ \t]*$/;
const BY_ADDRESS =
  /^ {0,3}Reverts https?:\/\/[\w.:-]{1,200}\/([\w.-]{1,100}\/[\w.-]{1,100})\/pull\/(\d{1,10})\/?[ \t]*\.?[ \t]*$/;
const BY_SHA = /^ {0,3}This reverts commit ([0-9a-f]{64}|[0-9a-f]{40})(?=$|[ \t.,;])/;
const BY_BRANCH = /^revert-(\d{1,10})-./;

/**
 * Reverts that a body claims, sorted: lines `Reverts owner/repo#N` or `Reverts #N`, as GitHub's button writes them,
 * or with the pull request's address, and lines that begin with git's `This reverts commit <sha>`. Code, comments and quotations are ignored. Reports decide
 * whether the target exists, was merged and is older.
 */
export function readRevertClaims(body: string | null): RevertClaims {
  const byBody = new Map<string, RevertReference>();
  const bySha = new Set<string>();
  for (const { text, place } of markdownLines(body ?? "")) {
    if (place !== "text") continue;
    const [, repository = null, digits] = BY_NUMBER.exec(text) ?? BY_ADDRESS.exec(text) ?? [];
    const number = numberOf(digits);
    if (number !== null) byBody.set(`${repository ?? ""}#${number}`, { repository, number });
    const sha = BY_SHA.exec(text)?.[1];
    if (sha !== undefined) bySha.add(sha);
  }
  const keys = [...byBody.keys()].sort().slice(0, CLAIMS_MAX);
  return {
    byBody: keys.flatMap((key) => byBody.get(key) ?? []),
    bySha: [...bySha].sort().slice(0, CLAIMS_MAX),
  };
}

/** The pull request that a head branch `revert-<N>-<branch>` of GitHub's button names. */
export const readRevertBranch = (ref: string): number | null => numberOf(BY_BRANCH.exec(ref)?.[1]);

/**
 * Reverts that a pull request's commits, oldest first, claim. A commit that a later one reverts claims nothing, unless
 * that one is reverted too. A message is plain text: nothing in it is code or a quotation.
 */
export function readCommitClaims(commits: readonly { sha: string; message: string }[]): CommitClaim[] {
  const undone = new Set<string>();
  const claims: CommitClaim[] = [];
  for (const { sha, message } of [...commits].reverse()) {
    if (undone.has(sha)) continue;
    for (const line of message.split(LINE_END)) {
      const reverts = BY_SHA.exec(line)?.[1];
      if (reverts === undefined) continue;
      undone.add(reverts);
      claims.push({ commit: sha, reverts });
    }
  }
  const own = new Set(commits.map(({ sha }) => sha));
  return claims.filter(({ reverts }) => !own.has(reverts)).slice(0, COMMIT_CLAIMS_MAX);
}

function numberOf(digits: string | undefined): number | null {
  const number = Number(digits ?? 0);
  return number >= 1 && number <= NUMBER_MAX ? number : null;
}
