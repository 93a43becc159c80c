import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { PullRequestKind } from "#drizzle/schema/github.ts";
import type { InstallationFacts, PullRequestFacts, ReviewFacts, Sighting } from "#github-app/facts/facts.ts";
import {
  installationAfter,
  type RepositoryState,
  repositoryAfter,
} from "#github-app/state/coverage-after.ts";
import { joinEvidence } from "#github-app/state/evidence.ts";
import { linkAfter } from "#github-app/state/link-after.ts";
import {
  type PullRequestState,
  pullRequestAfter,
  type Reported,
} from "#github-app/state/pull-request-after.ts";
import { type ReviewState, reviewAfter } from "#github-app/state/review-after.ts";

// Few times, ids and bodies, so that ties and repetitions are the rule.
const second = (n: number) => `2026-11-01T10:00:0${n}.000Z`;
const at = fc.nat({ max: 4 }).map(second);
const sha = fc.constantFrom("a", "b", "c").map((it) => it.repeat(64));
const sessionIds = fc.constantFrom<string[]>([], ["a"], ["b"], ["a", "b"]);
const nothing = fc.constant<never[]>([]);

const body = fc.record({
  at,
  edited: fc.boolean(),
  sessionIds,
  diagnostics: fc.constantFrom<string[]>([], ["illegal_id"]),
  sha256: sha,
  revertsByBody: nothing,
  revertsBySha: nothing,
});

const head: fc.Arbitrary<string | null> = fc.option(fc.constantFrom("one", "two"));

const kind: fc.Arbitrary<PullRequestKind | null> = fc.option(fc.constantFrom("change", "release"));
const size: fc.Arbitrary<(PullRequestFacts["size"] & {}) | null> = fc.option(
  fc.record({ additions: fc.nat(2), deletions: fc.nat(2), changedFiles: fc.nat(2) }),
);

const pullRequestFacts: fc.Arbitrary<PullRequestFacts> = fc.record({
  action: fc.constant<string>("edited"),
  installation: fc.constant(null),
  sightings: nothing,
  repositoryId: fc.constant(1),
  number: fc.constant(2),
  open: fc.boolean(),
  openedAt: fc.constant(second(0)),
  merged: fc.option(fc.record({ at: fc.constant(second(2)), sha: fc.option(fc.constant("d".repeat(40))) })),
  editedAfterMerge: fc.boolean(),
  authorLogin: fc.option(fc.constantFrom("ann", "ben")),
  authorIsBot: fc.boolean(),
  authorAssociation: fc.option(fc.constantFrom("MEMBER", "NONE")),
  fromFork: fc.option(fc.boolean()),
  headBranch: head,
  headRepository: head,
  baseBranch: head,
  kind,
  size,
  revertsByBranch: fc.option(fc.constant(1)),
  body,
});

const told: fc.Arbitrary<Reported<PullRequestFacts>> = fc.record({
  deliveryId: fc.option(fc.constantFrom("d1", "d2", "d3", "d4", "d5", "d6")),
  facts: pullRequestFacts,
});

/** The accounts in another order, some of them more than once. */
function disordered<T>(accounts: fc.Arbitrary<T>): fc.Arbitrary<{ accounts: T[]; schedule: T[] }> {
  return fc.array(accounts, { minLength: 1, maxLength: 8 }).chain((list) =>
    fc
      .tuple(fc.shuffledSubarray(list, { minLength: list.length }), fc.shuffledSubarray(list), fc.nat())
      .map(([all, again, turn]) => {
        const schedule = [...all];
        for (const [index, one] of again.entries())
          schedule.splice((turn + index * 7) % (schedule.length + 1), 0, one);
        return { accounts: list, schedule };
      }),
  );
}

const pullRequestOf = (accounts: Reported<PullRequestFacts>[]) =>
  accounts.reduce<PullRequestState | null>(
    (state, one) => linkAfter(state, pullRequestAfter(state, one), NOTHING),
    null,
  );

describe("any order and any repetition of accounts gives the same row", () => {
  test("of a pull request", () => {
    fc.assert(
      fc.property(disordered(told), ({ accounts, schedule }) => {
        expect(pullRequestOf(schedule)).toEqual(pullRequestOf(accounts));
      }),
      { numRuns: 1000 },
    );
  });

  test("of a review", () => {
    const facts: fc.Arbitrary<ReviewFacts> = fc.record({
      action: fc.constant<string>("edited"),
      installation: fc.constant(null),
      sightings: nothing,
      repositoryId: fc.constant(1),
      number: fc.constant(2),
      id: fc.constant<number>(3),
      reviewerLogin: fc.option(fc.constant("ann")),
      submittedAt: fc.constant(second(0)),
      dismissed: fc.boolean(),
      body: fc.record({ at, edited: fc.boolean(), sessionIds, diagnostics: nothing }),
    });
    const reviewOf = (accounts: ReviewFacts[]) => accounts.reduce<ReviewState | null>(reviewAfter, null);
    fc.assert(
      fc.property(disordered(facts), ({ accounts, schedule }) => {
        expect(reviewOf(schedule)).toEqual(reviewOf(accounts));
      }),
      { numRuns: 500 },
    );
  });

  test("of an installation", () => {
    const facts: fc.Arbitrary<InstallationFacts> = fc.record({
      action: fc.constant("created"),
      installation: fc.constant({ id: 1 }),
      sightings: nothing,
      accountLogin: fc.constantFrom("octo", "corp"),
      accountId: fc.constant(7),
      state: fc.constantFrom("active", "suspended", "removed"),
      permissions: fc.option(fc.constantFrom({ checks: "read" }, { checks: "write" })),
      at,
    });
    type State = ReturnType<typeof installationAfter>;
    const installationOf = (all: InstallationFacts[]) => all.reduce<State | null>(installationAfter, null);
    fc.assert(
      fc.property(disordered(facts), ({ accounts, schedule }) => {
        expect(installationOf(schedule)).toEqual(installationOf(accounts));
      }),
      { numRuns: 500 },
    );
  });

  test("of a repository", () => {
    const sighting: fc.Arbitrary<Sighting> = fc.record({
      id: fc.constant(1),
      fullName: fc.constantFrom("o/a", "o/b", "o/c"),
      formerNames: fc.constantFrom<string[]>([], ["o/a"], ["o/old"]),
      installationId: fc.option(fc.constantFrom(1, 2)),
      covered: fc.boolean(),
      isPrivate: fc.option(fc.boolean()),
      at,
    });
    const repositoryOf = (all: Sighting[]) =>
      all.reduce<RepositoryState | null>(
        (state, one) => repositoryAfter(state, one, one.installationId === 2),
        null,
      );
    fc.assert(
      fc.property(disordered(sighting), ({ accounts, schedule }) => {
        expect(repositoryOf(schedule)).toEqual(repositoryOf(accounts));
      }),
      { numRuns: 500 },
    );
  });

  test("and histories of evidence join in any grouping", () => {
    const entry = fc.record({
      deliveryId: fc.constantFrom("d1", "d2", "d3"),
      rule: fc.constantFrom("body_none", "body_one", "merged", "edited_after_merge"),
      sessionIds: fc.nat({ max: 20 }).map((n) => [`s${n}`]),
      diagnostics: nothing,
      at,
    });
    const plain = entry.map((it) => (it.rule.startsWith("body") ? it : { ...it, sessionIds: [] }));
    const history = fc.array(plain, { maxLength: 12 });
    fc.assert(
      fc.property(history, history, history, (a, b, c) => {
        const left = joinEvidence(joinEvidence(a, b), c);
        expect(joinEvidence(a, joinEvidence(c, b))).toEqual(left);
        expect(joinEvidence(left, left)).toEqual(left);
      }),
      { numRuns: 1000 },
    );
  });
});

const account = (
  changes: Partial<PullRequestFacts>,
  bodyChanges: Partial<PullRequestFacts["body"]> = {},
) => ({
  deliveryId: "d",
  facts: {
    action: "edited",
    installation: null,
    sightings: [],
    repositoryId: 1,
    number: 2,
    open: true,
    openedAt: second(0),
    merged: null,
    editedAfterMerge: false,
    authorLogin: "ann",
    authorIsBot: false,
    authorAssociation: null,
    fromFork: null,
    revertsByBranch: null,
    ...changes,
    body: {
      at: second(0),
      edited: false,
      sessionIds: [],
      diagnostics: [],
      sha256: "0".repeat(64),
      revertsByBody: [],
      revertsBySha: [],
      ...bodyChanges,
    },
  },
});

const NOTHING = { firstRequestAt: null, isOwners: false, isPublic: false };
const merge = { open: false, merged: { at: second(2), sha: "d".repeat(40) } };

describe("what the accounts come down to", () => {
  test("a body stamped within the second of its opening is stamped", () => {
    const opened = account({}, { sha256: "f".repeat(64) });
    const stamped = account({}, { edited: true, sessionIds: ["a"], sha256: "1".repeat(64) });
    expect(pullRequestOf([opened, stamped])?.session).toBe("a");
    expect(pullRequestOf([stamped, opened])?.session).toBe("a");
  });

  test("a merge is never taken back by a later account", () => {
    const state = pullRequestOf([account(merge, { at: second(2) }), account({}, { at: second(4) })]);
    expect(state).toMatchObject({ state: "merged", mergedAt: second(2), link: "no_stamp" });
  });

  test("a pull request closed and opened again is open", () => {
    const closed = account({ open: false }, { at: second(1) });
    const reopened = account({}, { at: second(2) });
    expect(pullRequestOf([closed, reopened])?.link).toBe("open");
    expect(pullRequestOf([reopened, closed])?.link).toBe("open");
    expect(pullRequestOf([closed])?.link).toBe("not_merged");
  });

  test("an edit after the merge counts, is flagged, and the former account stays in evidence", () => {
    const merged = account(merge, { at: second(2), sessionIds: ["a"] });
    const edited = account(
      { ...merge, editedAfterMerge: true },
      { at: second(3), edited: true, sessionIds: ["b"], sha256: "2".repeat(64) },
    );
    for (const order of [
      [merged, edited],
      [edited, merged],
    ]) {
      const state = pullRequestOf(order);
      expect(state).toMatchObject({ session: "b", editedAfterMerge: true, link: "unknown_session" });
      expect(state?.evidence.map((it) => [it.rule, ...it.sessionIds])).toEqual([
        ["body_one", "a"],
        ["merged"],
        ["body_one", "b"],
        ["edited_after_merge"],
      ]);
    }
  });

  test("a session that was once known stays known when its records are gone", () => {
    const merged = pullRequestAfter(null, account(merge, { at: second(2), sessionIds: ["a"] }));
    const joined = linkAfter(null, merged, { ...NOTHING, firstRequestAt: second(1) });
    expect(joined.link).toBe("joined");
    const later = linkAfter(
      joined,
      pullRequestAfter(joined, account(merge, { at: second(4), sessionIds: ["a"] })),
      NOTHING,
    );
    expect(later.link).toBe("joined");
    const other = linkAfter(
      joined,
      pullRequestAfter(joined, account(merge, { at: second(4), sessionIds: ["b"] })),
      NOTHING,
    );
    expect(other.link).toBe("unknown_session");
  });

  test("a session that an outsider names is claimed, unless it is his, accepted, or the repository is private", () => {
    const known = { firstRequestAt: second(1), isOwners: false, isPublic: true };
    const outside = { ...merge, fromFork: true, authorAssociation: "CONTRIBUTOR" };
    const stamp = { at: second(2), sessionIds: ["a"] };
    const linkOf = (facts: object, more: object, row: object = {}) =>
      linkAfter(null, { ...pullRequestAfter(null, account(facts, stamp)), ...row }, { ...known, ...more })
        .link;
    expect(linkOf(outside, {})).toBe("claimed");
    expect(linkOf(outside, { firstRequestAt: null })).toBe("claimed");
    for (const association of ["NONE", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR"])
      expect(linkOf({ ...outside, authorAssociation: association }, {})).toBe("claimed");
    for (const association of ["OWNER", "MEMBER", "COLLABORATOR", null])
      expect(linkOf({ ...outside, authorAssociation: association }, {})).toBe("joined");
    expect(linkOf({ ...outside, fromFork: false }, {})).toBe("joined");
    expect(linkOf(outside, { isOwners: true })).toBe("joined");
    expect(linkOf(outside, { isPublic: false })).toBe("joined");
    expect(linkOf(outside, {}, { acceptedSession: "a" })).toBe("joined");
    expect(linkOf(outside, {}, { acceptedSession: "other" })).toBe("claimed");
  });

  test("two ids are a conflict", () => {
    expect(pullRequestOf([account(merge, { sessionIds: ["a", "b"] })])?.link).toBe("conflict");
  });

  test("an unsuspended installation is active, although GitHub does not advance its time", () => {
    const told = (state: InstallationFacts["state"]): InstallationFacts => ({
      action: "x",
      installation: { id: 1 },
      sightings: [],
      accountLogin: "octo",
      accountId: 7,
      permissions: null,
      state,
      at: second(1),
    });
    const after = installationAfter(installationAfter(null, told("suspended")), told("active"));
    expect(after.state).toBe("active");
    expect(installationAfter(installationAfter(null, told("removed")), told("active")).state).toBe("removed");
  });
});
