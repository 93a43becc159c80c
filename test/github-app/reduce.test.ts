import { describe, expect, test } from "bun:test";
import type { EventName, FactsOf } from "#github-app/facts/facts.ts";
import { FACTS } from "#github-app/facts/facts.ts";
import { reduce } from "#github-app/facts/reduce.ts";
import { fits } from "#shared/schema.ts";
import {
  coveragePayload,
  EXAMPLES,
  installationPayload,
  type Payload,
  type PullRequestOptions,
  pullRequestPayload,
  REPOSITORY,
  renamePayload,
  reviewPayload,
} from "#test/support/github-payloads.ts";

const NOW = new Date("2026-11-21T12:00:00.000Z");

function factsOf<Name extends EventName>(event: Name, payload: Payload): FactsOf<Name> {
  const reduced = reduce(event, payload, NOW);
  if (reduced.kind !== "facts" || reduced.event !== event) throw new Error(reduced.kind);
  return reduced.facts as FactsOf<Name>;
}

const pull = (options: PullRequestOptions = {}) => factsOf("pull_request", pullRequestPayload(options));

describe("a pull request", () => {
  test("comes down to ids, numbers, flags, times, the stamp and the body's digest", () => {
    const facts = pull({
      body: "Fixes it.\r\n\r\nGateway-Session: gs_1\r\n",
      at: "2026-11-01T12:00:00+02:00",
    });
    expect(facts).toEqual({
      action: "opened",
      installation: { id: 1 },
      sightings: [
        {
          ...REPOSITORY,
          formerNames: [],
          installationId: 1,
          covered: true,
          isPrivate: false,
          at: "2026-11-01T10:00:00.000Z",
        },
      ],
      repositoryId: REPOSITORY.id,
      number: 2,
      open: true,
      openedAt: "2026-11-01T09:00:00.000Z",
      merged: null,
      editedAfterMerge: false,
      authorLogin: "Codertocat",
      authorIsBot: false,
      authorAssociation: "MEMBER",
      fromFork: false,
      headBranch: "changes",
      headRepository: "codertocat/hello-world",
      baseBranch: "master",
      kind: "change",
      size: { additions: 1, deletions: 1, changedFiles: 1 },
      revertsByBranch: null,
      body: {
        at: "2026-11-01T10:00:00.000Z",
        edited: false,
        sessionIds: ["gs_1"],
        diagnostics: [],
        sha256: new Bun.CryptoHasher("sha256")
          .update("Fixes it.\r\n\r\nGateway-Session: gs_1\r\n")
          .digest("hex"),
        revertsByBody: [],
        revertsBySha: [],
      },
    });
  });

  test("is merged by `merged`, never by a merge commit sha", () => {
    expect(pull({ action: "closed" }).merged).toBeNull();
    const at = "2026-11-02T10:00:00Z";
    expect(pull({ action: "closed", mergedAt: at, mergeCommitSha: "a".repeat(40) }).merged).toEqual({
      at: "2026-11-02T10:00:00.000Z",
      sha: "a".repeat(40),
    });
  });

  test("is edited after its merge only by a change of its body", () => {
    const mergedAt = "2026-11-02T10:00:00Z";
    expect(pull({ action: "edited", mergedAt, formerBody: "" }).editedAfterMerge).toBe(true);
    expect(pull({ action: "edited", mergedAt, formerTitle: "x" }).editedAfterMerge).toBe(false);
    expect(pull({ action: "edited", formerBody: "x" }).editedAfterMerge).toBe(false);
    expect(pull({ action: "edited", formerBody: "x" }).body.edited).toBe(true);
  });

  test("may have no body, no author, or a bot for one", () => {
    expect(pull({ body: null }).body.sessionIds).toEqual([]);
    expect(pull({ author: null }).authorLogin).toBeNull();
    expect(pull({ author: { login: "dependabot[bot]", type: "Bot" } })).toMatchObject({
      authorLogin: "dependabot[bot]",
      authorIsBot: true,
    });
  });

  test("keeps what its branch and body claim to revert", () => {
    const facts = pull({ headRef: "revert-1-changes", body: "Reverts Codertocat/Hello-World#1" });
    expect(facts.revertsByBranch).toBe(1);
    expect(facts.body.revertsByBody).toEqual([{ repository: "Codertocat/Hello-World", number: 1 }]);
  });

  test("with many ids keeps ten, which are still a conflict", () => {
    const body = Array.from({ length: 40 }, (_, index) => `Gateway-Session: s${index}`).join("\n");
    expect(pull({ body }).body.sessionIds).toHaveLength(10);
  });
});

describe("a review", () => {
  test("is dated by its submission, an edited one by its own change or else the pull request's", () => {
    const of = (payload: Payload) => factsOf("pull_request_review", payload).body;
    expect(of(reviewPayload({ body: "Gateway-Session: a" }))).toEqual({
      at: "2026-11-01T11:00:00.000Z",
      edited: false,
      sessionIds: ["a"],
      diagnostics: [],
    });
    const edited = { action: "edited", formerBody: "x", pullRequestAt: "2026-11-01T13:00:00Z" } as const;
    expect(of(reviewPayload(edited)).at).toBe("2026-11-01T13:00:00.000Z");
    expect(of(reviewPayload({ ...edited, updatedAt: "2026-11-01T12:00:00Z" })).at).toBe(
      "2026-11-01T12:00:00.000Z",
    );
    expect(of(reviewPayload(edited)).edited).toBe(true);
  });

  test("says whether it was dismissed", () => {
    expect(factsOf("pull_request_review", reviewPayload({ action: "dismissed" })).dismissed).toBe(true);
    expect(factsOf("pull_request_review", reviewPayload()).dismissed).toBe(false);
  });
});

describe("installations and repositories", () => {
  test("times may be RFC 3339 or whole seconds, as GitHub writes both", () => {
    const payload = installationPayload({ action: "created", repositories: [REPOSITORY] });
    const seconds = { created_at: 1557933591, updated_at: 1557933591 };
    Object.assign(payload["installation"] as Payload, seconds);
    const facts = factsOf("installation", payload);
    expect(facts.at).toBe("2019-05-15T15:19:51.000Z");
    expect(facts.sightings).toHaveLength(1);
    expect(facts.state).toBe("active");
  });

  test("a deleted installation is removed, a suspended one suspended", () => {
    expect(factsOf("installation", installationPayload({ action: "deleted" })).state).toBe("removed");
    const suspendedAt = "2026-11-01T00:00:00Z";
    expect(factsOf("installation", installationPayload({ action: "suspend", suspendedAt })).state).toBe(
      "suspended",
    );
  });

  test("repositories added and removed are dated by their receipt, because GitHub sends no time of it", () => {
    const payload = coveragePayload({ action: "removed", repositories: [REPOSITORY] });
    expect(factsOf("installation_repositories", payload).sightings).toEqual([
      {
        ...REPOSITORY,
        formerNames: [],
        installationId: 1,
        covered: false,
        isPrivate: false,
        at: NOW.toISOString(),
      },
    ]);
  });

  test("a rename and a transfer keep the former name", () => {
    const repository = { id: 5, fullName: "Codertocat/New" };
    const at = "2026-11-01T00:00:00Z";
    const renamed = renamePayload({ repository, formerName: "Old", at });
    expect(factsOf("repository", renamed).sightings[0]?.formerNames).toEqual(["Codertocat/Old"]);
    const transferred: Payload = {
      ...renamed,
      action: "transferred",
      changes: { owner: { from: { organization: { login: "octo", id: 1 } } } },
    };
    expect(factsOf("repository", transferred).sightings[0]?.formerNames).toEqual(["octo/New"]);
  });
});

describe("all examples of the real service", () => {
  const reductions = EXAMPLES.map(({ event, payload }) => ({ event, reduced: reduce(event, payload, NOW) }));

  test("none is malformed, and the events that do not count are ignored", () => {
    expect(reductions.filter((it) => it.reduced.kind === "malformed")).toEqual([]);
    const ignored = reductions.filter((it) => it.reduced.kind === "ignored");
    expect(EXAMPLES).toHaveLength(329);
    expect(ignored.length).toBeGreaterThan(280);
  });

  test("facts hold nothing but what their schema names", () => {
    for (const { reduced } of reductions) {
      if (reduced.kind === "facts") expect(fits(FACTS[reduced.event], reduced.facts)).toBe(true);
    }
  });
});

describe("a delivery of an event that counts is malformed", () => {
  const without = (payload: Payload, path: string[]) => {
    const copy = structuredClone(payload);
    const parent = path.slice(0, -1).reduce((it, name) => it[name] as Payload, copy);
    delete parent[path.at(-1) ?? ""];
    return copy;
  };
  const cases: [event: EventName, payload: Payload][] = [
    ["pull_request", without(pullRequestPayload(), ["pull_request"])],
    ["pull_request", without(pullRequestPayload(), ["repository", "id"])],
    ["pull_request", without(pullRequestPayload(), ["pull_request", "body"])],
    ["pull_request", pullRequestPayload({ at: "yesterday" })],
    ["pull_request", pullRequestPayload({ number: 0 })],
    ["pull_request", pullRequestPayload({ number: 2 ** 31 })],
    ["pull_request", pullRequestPayload({ repository: { id: 1, fullName: "a/b\u0000" } })],
    ["pull_request", pullRequestPayload({ authorAssociation: "NONE\u0000" })],
    ["pull_request_review", without(reviewPayload(), ["review"])],
    ["installation", without(installationPayload({ action: "created" }), ["installation", "account"])],
  ];
  test.each(cases)("%s", (event, payload) => {
    expect(reduce(event, payload, NOW)).toEqual({ kind: "malformed" });
  });
});

test("unknown events and actions are ignored, whatever they hold", () => {
  expect(reduce("pull_request", { action: "invented" }, NOW)).toEqual({ kind: "ignored" });
  expect(reduce("invented", { action: "opened" }, NOW)).toEqual({ kind: "ignored" });
  expect(reduce("constructor", { action: "opened" }, NOW)).toEqual({ kind: "ignored" });
  expect(reduce("pull_request", {}, NOW)).toEqual({ kind: "ignored" });
});
