import type { PullRequestKind } from "#drizzle/schema/github.ts";

/** Branches that outlive a change, by their usual names. */
const LASTING =
  /^(main|master|trunk|dev|develop|development|integration|next|staging|stage|qa|preview|prod|production|live|release|stable)$/i;
/** Lines of releases: `release/1.2`, `support-3`, `1.x`, `v2.4`, `9.0-stable`. */
const LINE =
  /^(?:(?:releases?|support|stable|maintenance)\/.+|(?:release|rel|support|stable|maint)[_-]v?\d.*|v?\d+(?:\.(?:\d+|x))*(?:[-_.](?:x|stable|lts))?)$/i;
/** What tools name the branches of releases and of backports. */
const RELEASE_HEAD = /^(?:release-please--|changeset-release\/)/i;
const BACKPORT_HEAD = /^(?:(?:auto[-_])?backports?[-_/]|mergify\/bp\/|cherry-?pick[-_/])/i;

/**
 * What a pull request is by its branches. One between two lasting branches (`develop` into `main`) moves what was merged
 * before; one into a line of releases, or from a tool's backport branch, repeats a change.
 */
export function kindOfBranches(head: string, base: string, standard: string | undefined): PullRequestKind {
  const isLasting = (branch: string) => branch === standard || LASTING.test(branch) || LINE.test(branch);
  if (RELEASE_HEAD.test(head)) return "release";
  if (BACKPORT_HEAD.test(head)) return "backport";
  if (head !== base && isLasting(head) && isLasting(base)) return "release";
  return base !== standard && LINE.test(base) ? "backport" : "change";
}
