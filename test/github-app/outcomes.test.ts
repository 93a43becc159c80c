import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dropOldMonths } from "#drizzle/retention.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { insertRequest, outcomeTables, testGithubApp } from "#test/support/github-app.ts";
import {
  coveragePayload,
  installationPayload,
  type PullRequestOptions,
  pullRequestPayload,
  REPOSITORY,
  type ReviewOptions,
  renamePayload,
  reviewPayload,
} from "#test/support/github-payloads.ts";
import { until } from "#test/support/until.ts";

let running: Awaited<ReturnType<typeof testGithubApp>>;
beforeAll(async () => {
  running = await testGithubApp();
});
afterAll(() => running.close());

const T1 = "2026-11-01T10:00:00Z";
const T2 = "2026-11-02T10:00:00Z";
const T3 = "2026-11-03T10:00:00Z";
const MERGED = { action: "closed", mergedAt: T2, at: T2 } as const;

let lastNumber = 100;

/** Delivers the events of one new pull request, waits until they are applied, and reads its row. */
async function pullRequest(...events: PullRequestOptions[]) {
  const number = ++lastNumber;
  const send = async (options: PullRequestOptions, deliveryId?: string) => {
    const sent = deliveryId === undefined ? {} : { deliveryId };
    const answer = await running.deliver("pull_request", pullRequestPayload({ ...options, number }), sent);
    expect(answer.status).toBe(202);
    await running.applied();
  };
  const read = async () => {
    const [row] = await running.database.sql`select * from pull_requests where number = ${number}`;
    if (!row) throw new Error("no row");
    return row;
  };
  for (const options of events) await send(options);
  return { number, send, read, row: await read() };
}

describe("the link of a pull request", () => {
  test("an open one is open, whatever it says", async () => {
    const { row } = await pullRequest({ body: "Gateway-Session: open-1" });
    expect(row).toMatchObject({ state: "open", link: "open", session: "open-1", session_ids: ["open-1"] });
    expect(row["merged_at"]).toBeNull();
  });

  test("a merged one with the session of a known request is joined, with the evidence for it", async () => {
    await insertRequest(running.database, "known-1", "2026-10-31T08:00:00Z");
    const it = await pullRequest({ body: "Gateway-Session: known-1" });
    await it.send(
      { ...MERGED, body: "Gateway-Session: known-1", mergeCommitSha: "b".repeat(40) },
      "merge-delivery",
    );
    const row = await it.read();
    expect(row).toMatchObject({ state: "merged", link: "joined", session: "known-1" });
    expect(row).toMatchObject({
      author_login: "Codertocat",
      author_is_bot: false,
      edited_after_merge: false,
    });
    expect(row["merged_at"]).toEqual(new Date(T2));
    expect(row["merge_commit_sha"]).toBe("b".repeat(40));
    const at = "2026-11-02T10:00:00.000Z";
    const said = { sessionIds: ["known-1"], diagnostics: [] };
    expect(row["evidence"]).toEqual([
      { rule: "request_known", deliveryId: null, at: "2026-10-31T08:00:00.000Z", ...said },
      { rule: "body_one", deliveryId: "merge-delivery", at, ...said },
      { rule: "merged", deliveryId: "merge-delivery", at, sessionIds: [], diagnostics: [] },
    ]);
  });

  test("a merged one without a stamp, with two ids, or closed without a merge is no join", async () => {
    const none = await pullRequest({ ...MERGED, body: "Nothing here.\n> Gateway-Session: quoted" });
    expect(none.row).toMatchObject({ link: "no_stamp", session: null, session_ids: [] });
    const two = await pullRequest({ ...MERGED, body: "Gateway-Session: b\nGateway-Session: a" });
    expect(two.row).toMatchObject({ link: "conflict", session: null, session_ids: ["a", "b"] });
    const closed = await pullRequest({ action: "closed", body: "Gateway-Session: closed-1", at: T2 });
    expect(closed.row).toMatchObject({ state: "closed", link: "not_merged", merge_commit_sha: null });
  });

  test("a stamp of an unknown session is joined as soon as a request of it is recorded", async () => {
    const it = await pullRequest({ ...MERGED, body: "Gateway-Session: late-1" });
    expect(it.row["link"]).toBe("unknown_session");
    await insertRequest(running.database, "late-1", "2026-11-02T09:00:00Z");
    await until(async () => (await it.read())["link"] === "joined");
    expect((await it.read())["evidence"].map((one: { rule: string }) => one.rule)).toEqual([
      "request_known",
      "body_one",
      "merged",
    ]);
  });

  test("a session stays known, and its owner's, when its single records are dropped before the merge", async () => {
    const { database, databaseUrl: url } = running;
    await insertRequest(database, "kept-1", "2026-03-10T08:20:00Z");
    await database.sql`update requests set owner = 'codertocat' where session = 'kept-1'`;
    const rollups = openRollups({ url });
    await rollups.catchUp(new Date());
    await rollups.close();
    expect(await dropOldMonths(url, new Date("2026-04-15T00:00:00Z"))).toHaveLength(1);
    const it = await pullRequest({
      ...{ ...MERGED, body: "Gateway-Session: kept-1", authorAssociation: "CONTRIBUTOR" },
      headRepository: { id: 77, fullName: "codertocat/fork" },
    });
    expect(it.row).toMatchObject({ link: "joined" });
    expect(it.row["evidence"][0]).toMatchObject({ rule: "request_known", at: "2026-03-10T08:00:00.000Z" });
  });

  test("an edit after the merge is evaluated again and flagged", async () => {
    await insertRequest(running.database, "after-1", T1);
    const it = await pullRequest({ ...MERGED, body: "Fixes it." });
    expect(it.row["link"]).toBe("no_stamp");
    await it.send({
      action: "edited",
      mergedAt: T2,
      at: T3,
      formerBody: "Fixes it.",
      body: "Gateway-Session: after-1",
    });
    expect(await it.read()).toMatchObject({ link: "joined", session: "after-1", edited_after_merge: true });
  });

  test("an older delivery that arrives late takes nothing back", async () => {
    const it = await pullRequest({ ...MERGED, body: "Gateway-Session: x" }, { at: T1, body: "old text" });
    expect(it.row).toMatchObject({ state: "merged", session: "x" });
  });

  test("claims to revert are kept for the report", async () => {
    const { row } = await pullRequest({
      ...MERGED,
      headRef: "revert-7-changes",
      body: `Reverts Codertocat/Hello-World#7\n\nThis reverts commit ${"c".repeat(40)}.`,
    });
    expect(row).toMatchObject({
      reverts_by_branch: 7,
      reverts_by_body: [{ repository: "Codertocat/Hello-World", number: 7 }],
      reverts_by_sha: ["c".repeat(40)],
    });
  });
});

describe("a review", () => {
  let lastId = 5000;
  async function review(...events: ReviewOptions[]) {
    const id = ++lastId;
    for (const options of events)
      await running.deliver("pull_request_review", reviewPayload({ ...options, id }));
    await running.applied();
    const [row] = await running.database.sql`select * from reviews where id = ${id}`;
    return row;
  }

  test("counts by exactly one id in its body", async () => {
    expect(await review({ body: "Looks good.\n\nGateway-Session: r1" })).toMatchObject({
      session: "r1",
      session_ids: ["r1"],
      reviewer_login: "Codertocat",
      dismissed: false,
    });
    expect(await review({ body: null })).toMatchObject({ session: null, session_ids: [] });
    expect(await review({ body: "Gateway-Session: r1\nGateway-Session: r2" })).toMatchObject({
      session: null,
    });
  });

  test("follows edits and dismissal, in any order", async () => {
    const submitted: ReviewOptions = { body: "Gateway-Session: r1" };
    const edited: ReviewOptions = {
      action: "edited",
      body: "Gateway-Session: r2",
      formerBody: "x",
      updatedAt: T3,
    };
    const dismissed: ReviewOptions = { action: "dismissed", body: "Gateway-Session: r1", updatedAt: T2 };
    for (const order of [
      [submitted, edited, dismissed],
      [dismissed, edited, submitted],
      [edited, submitted, dismissed],
    ]) {
      expect(await review(...order)).toMatchObject({ session: "r2", dismissed: true });
    }
  });
});

describe("installations and repositories", () => {
  const repository = { id: 9001, fullName: "octo/new" };
  const read = async () => {
    const [row] = await running.database.sql`select * from repositories where id = ${repository.id}`;
    return row;
  };
  const send = async (event: string, payload: Parameters<typeof running.deliver>[1]) => {
    expect((await running.deliver(event, payload)).status).toBe(202);
    await running.applied();
  };

  test("a repository is kept by its id, with its former names", async () => {
    const old = { id: repository.id, fullName: "octo/old" };
    await send("pull_request", pullRequestPayload({ repository: old, installationId: 77, at: T1 }));
    expect(await read()).toMatchObject({ full_name: "octo/old", former_names: [], covered: true });
    await send("repository", renamePayload({ repository, formerName: "old", at: T2 }));
    expect(await read()).toMatchObject({ full_name: "octo/new", former_names: ["octo/old"] });
    await send(
      "pull_request",
      pullRequestPayload({ repository: old, installationId: 77, at: T1, number: 3 }),
    );
    expect(await read()).toMatchObject({ full_name: "octo/new", former_names: ["octo/old"] });
  });

  test("it is covered until the App is removed from it", async () => {
    await send(
      "installation_repositories",
      coveragePayload({ action: "removed", id: 77, repositories: [repository] }),
    );
    expect(await read()).toMatchObject({ covered: false, full_name: "octo/new" });
    await send(
      "installation_repositories",
      coveragePayload({ action: "added", id: 77, repositories: [repository] }),
    );
    expect(await read()).toMatchObject({ covered: true });
  });

  test("a removed installation covers nothing, not even what is heard through it late", async () => {
    await send(
      "installation",
      installationPayload({ action: "created", id: 77, repositories: [repository] }),
    );
    await send("installation", installationPayload({ action: "deleted", id: 77 }));
    expect(await read()).toMatchObject({ covered: false });
    const late = { id: 9002, fullName: "octo/late" };
    await send("pull_request", pullRequestPayload({ repository: late, installationId: 77, at: T3 }));
    const [row] = await running.database.sql`select covered from repositories where id = ${late.id}`;
    expect(row?.["covered"]).toBe(false);
    const [installation] = await running.database.sql`select state from installations where id = 77`;
    expect(installation?.["state"]).toBe("removed");
  });

  test("an installation of six hundred repositories is one delivery", async () => {
    const repositories = Array.from({ length: 600 }, (_, index) => ({
      id: 20_000 + index,
      fullName: `big/r${index}`,
    }));
    await send("installation", installationPayload({ action: "created", id: 78, repositories }));
    await send("installation", installationPayload({ action: "created", id: 78, repositories }));
    const [row] = await running.database
      .sql`select count(*)::int as size from repositories where installation_id = 78`;
    expect(row?.["size"]).toBe(600);
  });
});

describe("privacy", () => {
  test("no text of a pull request or review is in any table or log line", async () => {
    const canary = "CANARY-f3a9";
    const text = `${canary}\nReverts #1 ${canary}\nGateway-Session: ${canary} x\n**Gateway-Session:** ${canary}`;
    await running.deliver("pull_request", pullRequestPayload({ number: 50, title: canary, body: text }));
    await running.deliver(
      "pull_request",
      pullRequestPayload({ ...MERGED, number: 50, title: canary, body: text, formerTitle: canary }),
    );
    await running.deliver(
      "pull_request",
      pullRequestPayload({ action: "edited", number: 50, formerBody: text }),
    );
    await running.deliver("pull_request_review", reviewPayload({ id: 51, body: text }));
    await running.deliver("issue_comment", { action: "created", comment: { body: text } });
    await running.deliver("pull_request", { action: "opened", pull_request: { body: text } });
    await running.deliver("pull_request", `{"action": "opened", "${canary}`);
    await running.deliver("pull_request", pullRequestPayload({ body: text }), {
      secret: "not the right secret",
    });
    await running.applied();
    const { sql } = running.database;
    const tables = await sql`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`;
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      const [found] = await sql`
        select count(*)::int as rows from ${sql(name)} as t where t::text like ${`%${canary}%`}`;
      expect([name, found?.["rows"]]).toEqual([name, 0]);
    }
    expect(running.lines.length).toBeGreaterThan(10);
    expect(running.lines.filter((line) => line.includes(canary))).toEqual([]);
    const [row] = await sql`select link, evidence from pull_requests where number = 50`;
    expect(row?.["link"]).toBe("no_stamp");
    expect(JSON.stringify(row?.["evidence"])).toContain("not_plain");
  });
});

test("the repository of the examples is known under its name", async () => {
  const { repositories } = await outcomeTables(running.database);
  expect(repositories.find((it) => Number(it["id"]) === REPOSITORY.id)).toMatchObject({
    full_name: REPOSITORY.fullName,
    installation_id: "1",
  });
});
