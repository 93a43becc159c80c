import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq, gt } from "drizzle-orm";
import { pullRequestCommits } from "#drizzle/schema/feedback.ts";
import { pullRequests, repositories } from "#drizzle/schema/github.ts";
import { requests } from "#drizzle/schema/records.ts";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { recordAt } from "./records.ts";
import { type World, world } from "./world.ts";

let it: World;
let reports: ReportRunner;

const pull = (number: number, facts: Partial<typeof pullRequests.$inferInsert>) => ({
  repositoryId: 9_007_199_254,
  number,
  state: "merged" as const,
  openedAt: "2026-11-01T00:00:00.000Z",
  mergedAt: `2026-11-0${number}T12:00:00.000Z`,
  link: "no_stamp" as const,
  sessionIds: [],
  revertsByBody: [],
  revertsBySha: [],
  evidence: [],
  ...facts,
});

beforeAll(async () => {
  it = await world();
  reports = reportRunner({ url: it.url });
  const { db } = it.database;
  await db.insert(repositories).values({
    id: 9_007_199_254,
    fullName: "acme/api",
    formerNames: ["acme/former"],
    changedAt: "2026-11-01T00:00:00.000Z",
  });
  const evidence = {
    deliveryId: "d-1",
    rule: "body_stamp",
    sessionIds: ["run-1"],
    diagnostics: [],
    at: "2026-11-02T12:00:00.000Z",
  };
  await db.insert(pullRequests).values([
    pull(1, { link: "open", state: "open", mergedAt: null }),
    pull(2, {
      link: "joined",
      session: "run-1",
      sessionIds: ["run-1"],
      evidence: [evidence],
      authorLogin: "ada",
    }),
    pull(3, { link: "conflict", sessionIds: ["run-1", "run-2"] }),
    pull(4, { link: "unknown_session", session: "run-9", sessionIds: ["run-9"] }),
    pull(5, {}),
    pull(6, { link: "not_merged", state: "closed", mergedAt: null }),
  ]);
  await db
    .insert(requests)
    .values([
      recordAt("2026-11-01T10:00:00.000Z", { session: "run-1", costUsd: "0.1" }),
      recordAt("2026-11-01T11:00:00.000Z", { session: "run-1", costUsd: "0.02" }),
      recordAt("2026-11-01T12:00:00.000Z", { session: "run-1", costUsd: "5", channel: "subscription" }),
      recordAt("2026-11-01T13:00:00.000Z", { session: "run-1", unpriced: true }),
    ]);
});
afterAll(async () => {
  await reports.close();
});

const numbers = async (query: string) =>
  (await it.call("GET", `/pull-requests${query}`)).body.data.map((row: { number: number }) => row.number);

test("the dearest merges say what sets them apart from the usual one of their repository", async () => {
  const { body } = await it.call("GET", "/pull-requests/dearest?from=2026-11-01&repository=acme/api");
  expect(body.data).toHaveLength(1);
  expect(body.data[0]).toMatchObject({
    number: 2,
    session_cost_usd: "0.12",
    usual_usd: "0.12",
    model_cost_usd: "0.12",
    factors: [
      { name: "calls", value: 4, usual: null },
      { name: "sessions", value: 1, usual: null },
      { name: "subagents", value: 0, usual: null },
      { name: "retries", value: 0, usual: null },
      { name: "context", usual: null },
    ],
  });
  expect((await it.call("GET", "/pull-requests/dearest?to=2026-11-01")).body.data).toEqual([]);
});

test("the dearest are changes alone, and of a split session each has what is its own", async () => {
  const { db, sql } = it.database;
  const at = (minutes: number) => `2026-11-01T15:${minutes}:00.000Z`;
  const call = (minutes: number, session: string, costUsd: string, model: string) =>
    recordAt(at(minutes), { session, owner: "ada", costUsd, model });
  await db
    .insert(requests)
    .values([
      ...[call(10, "shipped", "90", "m1"), call(12, "halves", "9", "m1"), call(13, "halves", "3", "m2")],
      ...[call(14, "halves", "16", "m1"), call(32, "halves", "8", "m1")],
    ]);
  for (const [branch, minutes] of [
    ["one", 11],
    ["two", 31],
  ] as const)
    await sql`
      insert into session_contexts (org_id, session, declarer, repository, branch, key_id, client, declared_at)
      select org_id, 'halves', 'ada', 'acme/api', ${branch}, ${Bun.randomUUIDv7()}, 'test', ${at(minutes)}
      from repositories limit 1`;
  const named = (number: number, session: string, facts: object) =>
    pull(number, { link: "joined", session, sessionIds: [session], headRepository: "acme/api", ...facts });
  await db
    .insert(pullRequests)
    .values([
      named(7, "shipped", { kind: "release" }),
      ...[named(8, "halves", { headBranch: "one" }), named(9, "halves", { headBranch: "two" })],
    ]);
  const { body } = await it.call("GET", "/pull-requests/dearest?from=2026-11-01&repository=acme/api");
  expect(body.data).toMatchObject([
    { number: 8, session_cost_usd: "28", usual_usd: "8", model: "m1", model_cost_usd: "25", factors: [] },
    { number: 9, session_cost_usd: "8", model: "m1", model_cost_usd: "8", factors: [] },
    { number: 2, session_cost_usd: "0.12" },
  ]);
  const usd = (parts: { cost_usd: string }[]) => parts.map((part) => part.cost_usd);
  const page = (await it.call("GET", "/pull-requests/9007199254-8")).body;
  expect([usd(page.models), usd(page.stretches)]).toEqual([
    ["25", "3"],
    ["28", "8"],
  ]);
  await db.delete(pullRequests).where(gt(pullRequests.number, 6));
  await sql`delete from requests where session in ('shipped', 'halves')`;
});

test("pull requests are listed newest merge first, and pages follow each other", async () => {
  expect(await numbers("")).toEqual([5, 4, 3, 2, 6, 1]);
  const first = (await it.call("GET", "/pull-requests?limit=4")).body;
  const second = (await it.call("GET", `/pull-requests?limit=4&after=${first.next}`)).body;
  expect(second.data.map((row: { number: number }) => row.number)).toEqual([6, 1]);
  expect(second).toMatchObject({ has_more: false, next: null });
});

test("the largest number that is stored has a page, and a place in the list", async () => {
  const { db } = it.database;
  await db.insert(pullRequests).values(pull(2_147_483_647, { mergedAt: "2026-11-09T12:00:00.000Z" }));
  const first = (await it.call("GET", "/pull-requests?limit=1")).body;
  expect(first.data[0].id).toBe("9007199254-2147483647");
  expect(await numbers(`?limit=1&after=${first.next}`)).toEqual([5]);
  expect((await it.call("GET", "/pull-requests/9007199254-2147483647")).status).toBe(200);
  expect((await it.call("GET", "/pull-requests/9007199254-2147483648")).status).toBe(404);
  await db.delete(pullRequests).where(eq(pullRequests.number, 2_147_483_647));
});

test.each([
  ["?repository=acme/api&link=conflict", [3]],
  ["?repository=acme/web", []],
  ["?repository=Acme/API&link=conflict", [3]],
  ["?repository=acme/former&link=conflict", [3]],
  ["?repository=acme/a*&link=conflict", [3]],
  ["?session=run-1", [2]],
  ["?author=ada", [2]],
  ["?state=open", [1]],
  ["?repository=acme/api&number=4", [4]],
  ["?from=2026-11-04&to=2026-11-05", [5, 4]],
  ["?min_cost=0.12", [2]],
  ["?min_cost=0.120000001", []],
  ["?team=nobody", []],
])("%p narrows the list", async (query, expected) => {
  expect(await numbers(query)).toEqual(expected);
});

test("the list shows what each session cost, and null where a merge has none", async () => {
  const { data } = (await it.call("GET", "/pull-requests")).body;
  const cost = (number: number) => {
    const row = data.find((candidate: { number: number }) => candidate.number === number);
    return [row.session_requests, row.session_cost_usd, row.session_cost_is_lower_bound];
  };
  expect(cost(2)).toEqual([4, "0.12", true]);
  expect(cost(4)).toEqual([0, null, true]);
  expect(cost(5)).toEqual([0, null, true]);
});

test.each(["0x7", "2147483648", "-1"])("%p is no number of a pull request", async (number) => {
  const { status, body } = await it.call("GET", `/pull-requests?number=${number}`);
  expect(status).toBe(400);
  expect(body.error.message).toStartWith("number: ");
});

test("a link that there is not is refused by name, not answered with an empty list", async () => {
  const { status, body } = await it.call("GET", "/pull-requests?link=weird");
  expect(status).toBe(400);
  expect(body.error.message).toStartWith("link: Expected one of open, ");
});

test("a joined one shows the evidence and what its session cost, without the subscription lane", async () => {
  const { body } = await it.call("GET", "/pull-requests/9007199254-2");
  expect(body).toMatchObject({
    id: "9007199254-2",
    repository: "acme/api",
    link: "joined",
    session: "run-1",
    reason: expect.stringContaining(
      "its body names exactly one session, and calls of that session are recorded.",
    ),
    session_requests: 4,
    session_cost_usd: "0.12",
    session_cost_is_lower_bound: true,
    evidence: [{ delivery_id: "d-1", rule: "body_stamp", session_ids: ["run-1"] }],
  });
});

test("what a merge cost is known, or a lower bound, exactly where reports say so", async () => {
  const { db } = it.database;
  await db
    .insert(requests)
    .values([
      recordAt("2026-11-01T15:00:00.000Z", { session: "plan", costUsd: "5", channel: "subscription" }),
      recordAt("2026-11-01T16:00:00.000Z", { session: "paid", costUsd: "0.25" }),
      recordAt("2026-11-01T17:00:00.000Z", { session: "odd", unpriced: true }),
    ]);
  const joined = (number: number, session: string) =>
    pull(number, { link: "joined", session, sessionIds: [session], mergedAt: `2026-10-${number}T12:00:00Z` });
  await db.insert(pullRequests).values([joined(21, "plan"), joined(22, "paid"), joined(23, "odd")]);
  const told: unknown[] = [];
  const reported: unknown[] = [];
  for (const [number, day] of [
    [21, "2026-10-21"],
    [22, "2026-10-22"],
    [23, "2026-10-23"],
    [2, "2026-11-02"],
    [3, "2026-11-03"],
    [4, "2026-11-04"],
    [5, "2026-11-05"],
  ] as const) {
    const { body } = await it.call("GET", `/pull-requests/9007199254-${number}`);
    told.push([number, body.session_cost_usd, body.session_cost_is_lower_bound]);
    reported.push([number, ...(await reportedCost(day))]);
  }
  expect(told).toEqual([
    [21, null, true],
    [22, "0.25", false],
    [23, null, true],
    [2, "0.12", true],
    [3, null, true],
    [4, null, true],
    [5, null, true],
  ]);
  expect(reported).toEqual(told);
  await db
    .insert(requests)
    .values([
      recordAt("2026-11-01T18:00:00.000Z", { session: "paid", costUsd: "3.5", channel: "subscription" }),
    ]);
  expect((await it.call("GET", "/pull-requests/9007199254-22")).body).toMatchObject({
    ...{ session_requests: 2, session_cost_usd: "0.25", session_cost_is_lower_bound: false },
    session_subscription: { requests: 1, list_usd: "3.5", is_lower_bound: false },
  });
  const open = (await it.call("GET", "/pull-requests/9007199254-1")).body;
  expect([open.session_cost_usd, open.session_cost_is_lower_bound]).toEqual([null, false]);
  await db.delete(pullRequests).where(gt(pullRequests.number, 20));
});

/** The cost of the merges of a day as a report tells it, and whether it is a lower bound. */
async function reportedCost(day: string, filters = {}): Promise<[string | null, boolean]> {
  const spec = checkSpec({
    source: "outcomes",
    dimensions: [],
    measures: ["cost_usd"],
    filters,
    range: { from: day, to: day },
    compare: "none",
    view: "table",
  });
  const { total } = await reports.run(spec, new Date("2026-11-20T12:00:00Z"));
  const cost = total.current?.cost_usd ?? null;
  return [cost === null ? null : String(cost), total.floor];
}

test("a report about a repository is the same by its former name and in another case", async () => {
  const known = await reportedCost("2026-11-02");
  expect(known[0]).not.toBeNull();
  for (const name of ["acme/api", "ACME/api", "acme/former"])
    expect(await reportedCost("2026-11-02", { repository: [name] })).toEqual(known);
  expect(await reportedCost("2026-11-02", { repository: ["acme/other"] })).toEqual(["0", false]);
});

test.each([
  [1, "It is not merged yet."],
  [3, "two or more different sessions"],
  [4, "has no recorded calls yet"],
  [5, "no line `Gateway-Session: <id>`"],
  [6, "closed without a merge"],
])("number %p says why it is not joined", async (number, reason) => {
  expect((await it.call("GET", `/pull-requests/9007199254-${number}`)).body.reason).toContain(reason);
});

test("what is odd about it is said in words", async () => {
  const { db } = it.database;
  await db.insert(pullRequests).values(
    pull(7, {
      link: "joined",
      session: "run-1",
      sessionIds: ["run-1"],
      editedAfterMerge: true,
      evidence: [
        {
          deliveryId: "d",
          rule: "body_one",
          sessionIds: ["run-1"],
          diagnostics: ["in_code"],
          at: "2026-11-07",
        },
      ],
    }),
  );
  await db
    .insert(requests)
    .values(
      recordAt("2026-11-01T14:00:00.000Z", { session: "run-1", keyId: Bun.randomUUIDv7(), owner: "bob" }),
    );
  const { body } = await it.call("GET", "/pull-requests/9007199254-7");
  expect(body.findings.map((one: { code: string }) => one.code)).toEqual([
    "in_code",
    "edited_after_merge",
    "session_of_several_pull_requests",
    "session_of_several_keys",
  ]);
  expect(body.findings[0].text).toContain("is in code");
  expect(body.remedy).toBeNull();
  expect((await it.call("GET", "/pull-requests/9007199254-5")).body.remedy).toStartWith("Add one line");
  expect((await it.call("GET", "/pull-requests/9007199254-3")).body.remedy).toStartWith("Keep one");
  await db.delete(pullRequests).where(eq(pullRequests.number, 7));
});

test("a figure is settled a quiet day after the merge, or says why it can change and how far its data reaches", async () => {
  const { db, sql } = it.database;
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const named = (number: number, session: string, mergedHoursAgo: number | null) =>
    pull(number, {
      ...{ session, sessionIds: [session], headBranch: session, headRepository: "acme/api" },
      ...(mergedHoursAgo === null
        ? { link: "open", state: "open", mergedAt: null }
        : { link: "joined", mergedAt: ago(mergedHoursAgo) }),
    });
  const call = (session: string, hours: number, over: Partial<typeof requests.$inferInsert> = {}) =>
    recordAt(ago(hours), { session, owner: "ada", costUsd: "0.25", ...over });
  await db
    .insert(requests)
    .values([
      ...[call("quiet", 50), call("quiet", 30), call("late", 30), call("fresh", 2), call("begun", 2)],
      ...[
        call("odd", 50, { costUsd: null, unpriced: true }),
        call("long", 40),
        call("long", 2),
        call("old", 40),
      ],
    ]);
  const context = (session: string, branch: string, hours: number) => sql`
    insert into session_contexts (org_id, session, declarer, repository, branch, key_id, client, declared_at)
    select org_id, ${session}, 'ada', 'acme/api', ${branch}, ${Bun.randomUUIDv7()}, 'test', ${ago(hours)}
    from repositories limit 1`;
  await context("long", "gone", 41);
  await context("long", "long", 3);
  await context("old", "old", 41);
  // Its latest calls are another branch's.
  await db.insert(requests).values([call("left", 40), call("left", 2)]);
  await context("left", "left", 41);
  await context("left", "next", 10);
  await db
    .insert(pullRequests)
    .values([
      ...[named(31, "quiet", 28), named(32, "late", 3), named(33, "fresh", 28), named(34, "begun", null)],
      ...[named(35, "odd", 28), named(36, "long", 28), named(37, "old", 28), named(38, "left", 28)],
    ]);
  const settlementOf = async (number: number) =>
    (await it.call("GET", `/pull-requests/9007199254-${number}`)).body.settlement;
  const codes = async (number: number) => {
    const { settled, reasons } = await settlementOf(number);
    expect(settled).toBe(reasons.length === 0);
    const { body } = await it.call("GET", `/pull-requests?number=${number}&repository=acme/api`);
    expect(body.data.map((row: { settled: boolean }) => row.settled)).toEqual([settled]);
    return reasons.map(({ code }: { code: string }) => code);
  };
  expect(await codes(31)).toEqual([]);
  expect(await codes(32)).toEqual(["late_calls"]);
  expect(await codes(33)).toEqual(["late_calls"]);
  expect(await codes(34)).toEqual(["not_merged_yet"]);
  expect(await codes(35)).toEqual(["lower_bound"]);
  expect(await codes(36)).toEqual(["open_stretch"]);
  expect(await codes(37)).toEqual([]);
  expect(await codes(38)).toEqual([]);
  for (const [number, session, at] of [
    [31, "quiet", sql`max(started_at)`],
    [38, "left", sql`min(started_at)`],
  ] as const) {
    const [latest] = await sql`select ${at} as at from requests where session = ${session}`;
    expect((await settlementOf(number)).data_until).toBe(new Date(latest?.["at"]).toISOString());
  }
  expect(await settlementOf(4)).toMatchObject({ settled: false, data_until: null });
  await db.delete(pullRequests).where(gt(pullRequests.number, 30));
});

test("its reverts are listed with what tells of them, and whether they stand", async () => {
  const { db } = it.database;
  await db
    .insert(pullRequests)
    .values([
      pull(8, { revertsByBody: [{ repository: null, number: 5 }], mergeCommitSha: "8".repeat(40) }),
      pull(9, {}),
    ]);
  await db.insert(pullRequestCommits).values({
    repositoryId: 9_007_199_254,
    number: 9,
    readAt: "2026-11-10T00:00:00.000Z",
    claims: [{ commit: "c".repeat(40), reverts: "8".repeat(40) }],
  });
  const read = async (number: number) => (await it.call("GET", `/pull-requests/9007199254-${number}`)).body;
  const one = { rule: "body", stands: false };
  expect(await read(5)).toMatchObject({ reverted: false, reverted_by: [{ number: 8, ...one }], reverts: [] });
  expect(await read(8)).toMatchObject({
    reverted: true,
    reverted_by: [{ id: "9007199254-9", number: 9, rule: "commit_sha", stands: true }],
    reverts: [{ number: 5, ...one }],
    commits_read_at: null,
  });
  expect((await read(9)).commits_read_at).toBe("2026-11-10T00:00:00.000Z");
  await db.delete(pullRequests).where(gt(pullRequests.number, 7));
});

test.each(["9007199254-7", "x", "1-2-3", "99999999999999999999-1"])("%p is no pull request", async (id) => {
  expect((await it.call("GET", `/pull-requests/${id}`)).status).toBe(404);
});

test.each(["x", "1-2", "99999999999999999-1-1"])(
  "a cursor that no page gave is refused: %p",
  async (after) => {
    expect((await it.call("GET", `/pull-requests?after=${after}`)).status).toBe(400);
  },
);
