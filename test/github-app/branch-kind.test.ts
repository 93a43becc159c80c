import { expect, test } from "bun:test";
import { kindOfBranches } from "#github-app/facts/branch-kind.ts";

test.each([
  ["develop", "main", "main", "release"],
  ["main", "production", "main", "release"],
  ["trunk-of-ours", "staging", "trunk-of-ours", "release"],
  ["release/1.2", "main", "main", "release"],
  ["main", "develop", "main", "release"],
  ["release-please--branches--main", "main", "main", "release"],
  ["changeset-release/main", "main", "main", "release"],
  ["fix/a-thing", "release/1.2", "main", "backport"],
  ["fix/a-thing", "9.0-stable", "main", "backport"],
  ["fix/a-thing", "v2.x", "main", "backport"],
  ["mergify/bp/1.x/pr-12", "1.x", "main", "backport"],
  ["backport-12-to-1.x", "1.x", "main", "backport"],
  ["cherry-pick-12", "main", "main", "backport"],
  ["fix/a-thing", "main", "main", "change"],
  ["fix/a-thing", "develop", "main", "change"],
  ["feature/next", "next", undefined, "change"],
  // The default branch may be called like a line of releases.
  ["fix/a-thing", "1.x", "1.x", "change"],
  ["hotfix/1.2.1", "main", "main", "change"],
  ["release-notes", "main", "main", "change"],
  ["develop", "release-1.4", "main", "release"],
])("%s into %s, with %s as the default branch, is a %s", (head, base, standard, kind) => {
  expect(kindOfBranches(head, base, standard)).toBe(kind as never);
});
