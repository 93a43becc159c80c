import { afterAll, beforeAll, expect, test } from "bun:test";
import { readCoverage } from "#drizzle/coverage.ts";
import { insertRequest, testGithubApp } from "#test/support/github-app.ts";
import {
  coveragePayload,
  EXAMPLES,
  installationPayload,
  type Payload,
  pullRequestPayload,
  schemaFaults,
} from "#test/support/github-payloads.ts";

// What real repositories do beside the plain way from a branch to a merge.

let it: Awaited<ReturnType<typeof testGithubApp>>;
beforeAll(async () => {
  it = await testGithubApp();
  await insertRequest(it.database, "s1", "2026-11-01T08:00:00Z");
});
afterAll(() => it.close());

const repository = { id: 4711, fullName: "octo/app" };
const merged = { action: "closed", mergedAt: "2026-11-03T10:00:00Z", at: "2026-11-03T10:00:00Z" } as const;

async function told(event: string, payload: Payload) {
  // GitHub sends null for the repository of a deleted head and for a deleted author, against its own schemas.
  const known = ["/pull_request/head/repo ", "/pull_request/user "];
  const faults = schemaFaults(event, payload).filter((fault) => !known.some((it) => fault.startsWith(it)));
  expect(faults).toEqual([]);
  expect((await it.deliver(event, payload)).status).toBe(202);
  await it.applied();
}

const pull = async (number: number) => {
  const [row] = await it.database.sql`
    select * from pull_requests where repository_id = ${repository.id} and number = ${number}`;
  return row;
};

test("a merge from a fork that is gone counts as any other", async () => {
  const fork = { repository, number: 1, body: "Gateway-Session: s1", headRepositoryGone: true };
  await told("pull_request", pullRequestPayload({ ...fork, ...merged }));
  expect(await pull(1)).toMatchObject({ state: "merged", link: "joined", session: "s1" });
});

test("a bot's pull request is known as one, an author who is gone is nobody", async () => {
  const bot = { login: "dependabot[bot]", type: "Bot" } as const;
  await told("pull_request", pullRequestPayload({ repository, number: 2, author: bot, ...merged }));
  await told("pull_request", pullRequestPayload({ repository, number: 3, author: null, ...merged }));
  expect(await pull(2)).toMatchObject({ author_login: "dependabot[bot]", author_is_bot: true });
  expect(await pull(3)).toMatchObject({ author_login: null, author_is_bot: false, state: "merged" });
});

test("a merge queue ends in one merge, and its own events say nothing", async () => {
  const open = pullRequestPayload({ repository, number: 4, body: "Gateway-Session: s1" });
  await told("pull_request", open);
  await told("pull_request", { ...open, action: "enqueued" });
  await told("pull_request", { ...open, action: "dequeued", reason: "MERGE" });
  const group = EXAMPLES.find((one) => one.event === "merge_group")?.payload ?? {};
  await told("merge_group", { ...group, action: "destroyed", reason: "merged" });
  expect(await pull(4)).toMatchObject({ state: "open", link: "open" });
  await told(
    "pull_request",
    pullRequestPayload({ repository, number: 4, body: "Gateway-Session: s1", ...merged }),
  );
  expect(await pull(4)).toMatchObject({ state: "merged", link: "joined" });
});

test("what a script landed and closed was not merged; two merged by one push both were", async () => {
  await told("pull_request", pullRequestPayload({ repository, number: 5, action: "closed" }));
  expect(await pull(5)).toMatchObject({ state: "closed", link: "not_merged" });
  const mergeCommitSha = "e".repeat(40);
  for (const number of [6, 7])
    await told("pull_request", pullRequestPayload({ repository, number, mergeCommitSha, ...merged }));
  expect([await pull(6), await pull(7)]).toMatchObject([{ state: "merged" }, { state: "merged" }]);
});

test("a repository that is transferred keeps its history under its id, and is seen through its new owner", async () => {
  await told("installation", installationPayload({ action: "created", id: 1, repositories: [repository] }));
  const transferred = EXAMPLES.find(
    ({ event, payload }) => event === "repository" && payload["action"] === "transferred",
  )?.payload;
  const moved = { id: repository.id, fullName: "other/app" };
  await told("repository", {
    ...transferred,
    repository: {
      ...(transferred?.["repository"] as Payload),
      id: moved.id,
      name: "app",
      full_name: moved.fullName,
      updated_at: "2026-11-05T00:00:00Z",
    },
    changes: { owner: { from: { user: { ...(transferred?.["sender"] as Payload), login: "octo" } } } },
    installation: { id: 2, node_id: "x" },
  });
  await told(
    "installation_repositories",
    coveragePayload({ action: "removed", id: 1, repositories: [moved] }),
  );
  await told("installation_repositories", coveragePayload({ action: "added", id: 2, repositories: [moved] }));
  const [row] = await readCoverage(it.database.db, { limit: 1, after: repository.id - 1 });
  expect(row).toMatchObject({
    fullName: "other/app",
    formerNames: ["octo/app"],
    installationId: 2,
    covered: true,
    pullRequests: 7,
  });
  expect(row?.windows.at(-1)).toMatchObject({ until: null });
});

test("an App that is removed and installed anew sees again under its new installation, with a gap", async () => {
  await told("installation", installationPayload({ action: "deleted", id: 2 }));
  const gone = (await readCoverage(it.database.db, { limit: 1, after: repository.id - 1 }))[0];
  expect(gone).toMatchObject({
    covered: false,
    windows: expect.arrayContaining([expect.objectContaining({ end: "uninstalled" })]),
  });
  await told(
    "installation_repositories",
    coveragePayload({ action: "added", id: 3, repositories: [{ ...repository, fullName: "other/app" }] }),
  );
  const back = (await readCoverage(it.database.db, { limit: 1, after: repository.id - 1 }))[0];
  expect(back).toMatchObject({ covered: true, installationId: 3 });
  expect(back?.windows.at(-1)).toMatchObject({ until: null, end: null });
});
