import { beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { pullRequestCosts, taskStretches } from "#drizzle/session-cost.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import type { Explanation } from "#shared/explanation.ts";
import { atEnd } from "#test/support/at-end.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { type Engines, reportEngines } from "#test/support/report-engines.ts";
import { casesTried } from "#test/support/tiers.ts";
import { type ContextFacts, type PullRequestFacts, type RequestFacts, seed, type World } from "./world.ts";

// Sessions over several pull requests, with contexts, in generated worlds: what each costs by the pages and the reports
// against a count by hand that shares no code with them.

let engines: Engines;
let database: Database;
let sql: ReturnType<typeof testSql>;
let url: string;
beforeAll(async () => {
  ({ url } = await testDatabase());
  sql = testSql(url);
  engines = await reportEngines(url);
  database = openDatabase(url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  atEnd(() => database.close());
});

const minute = (n: number) => new Date(Date.UTC(2026, 10, 20, 10, n)).toISOString();
const REPOSITORIES = [
  { id: 1, fullName: "acme/app" },
  { id: 2, fullName: "Acme/Web", formerNames: ["acme/old-web"] },
];

const sessions = fc.constantFrom("s0", "s1", "s2");
const owners = fc.constantFrom("ann", "bob");
const branches = fc.constantFrom("one", "two", "three");
const times = fc.integer({ min: 0, max: 200 });

type Call = RequestFacts & { session: string; owner: string; n: number };
const calls: fc.Arbitrary<Call> = fc
  .record({
    n: times,
    owner: owners,
    session: sessions,
    isAgents: fc.boolean(),
    cost: fc.option(fc.integer({ min: 0, max: 999 }).map(String), { freq: 9 }),
    channel: fc.constantFrom("api" as const, "api" as const, "batch" as const, "subscription" as const),
    model: fc.constantFrom("m1", "m2"),
  })
  .map(({ isAgents, ...it }) => ({
    ...it,
    at: minute(it.n),
    agentSession: isAgents && it.session !== "s2" ? it.session.replace("s", "a") : null,
  }));

type Context = ContextFacts & { n: number; repository: string };
const contexts: fc.Arbitrary<Context> = fc
  .record({
    n: times,
    owner: owners,
    session: fc.constantFrom("s0", "s1", "a0", "a1"),
    branch: branches,
    repository: fc.constantFrom("acme/app", "acme/app", "acme/web", "acme/old-web", "eve/app"),
  })
  // GitHub's times have whole seconds, and ours do not.
  .map((it) => ({ ...it, at: minute(it.n).replace(".000", ".400") }));

type Merge = PullRequestFacts & { session: string; headBranch: string | null; n: number | null };
const merges: fc.Arbitrary<Omit<Merge, "number">> = fc
  .record({
    repository: fc.constantFrom(1, 1, 2),
    session: sessions,
    headBranch: fc.option(branches, { freq: 6 }),
    headRepository: fc.constantFrom("acme/app", "eve/app", null),
    n: fc.option(times, { freq: 3 }),
    isOpen: fc.boolean(),
    isClaim: fc.constantFrom(false, false, true),
  })
  .map(({ isOpen, isClaim, ...it }) => ({
    ...it,
    mergedAt: it.n === null ? null : minute(it.n),
    link: it.n !== null ? (isClaim ? "claimed" : "joined") : isOpen ? "open" : "not_merged",
  }));

const worlds = fc.record({
  requests: fc.array(calls, { minLength: 1, maxLength: 40 }),
  contexts: fc.uniqueArray(contexts, {
    maxLength: 8,
    selector: ({ session, owner, n }) => `${session} ${owner} ${n}`,
  }),
  pullRequests: fc
    .array(merges, { minLength: 1, maxLength: 7 })
    .map((list): Merge[] => list.map((it, i) => ({ ...it, number: i + 1 }))),
});
type Generated = { requests: Call[]; contexts: Context[]; pullRequests: Merge[] };

/** The context that covers a call. */
function contextOf(world: Generated, call: Call): Context | null {
  for (const id of [call.agentSession, call.session]) {
    const own = world.contexts.filter((it) => it.session === id && it.owner === call.owner);
    const [first, ...later] = own.sort((a, b) => a.n - b.n);
    if (first) return later.findLast(({ n }) => n < call.n) ?? first;
  }
  return null;
}

const NAMES: Record<number, string[]> = { 1: ["acme/app"], 2: ["acme/web", "acme/old-web"] };

const isOfBranch = (it: Merge, { branch, repository }: Context) =>
  it.headBranch === branch && [...(NAMES[it.repository] ?? []), it.headRepository].includes(repository);

/** Whether a pull request counts beside the others of its session: not a claim, nor one that was closed and opened again. */
const stands = (world: Generated, it: Merge) =>
  it.link !== "claimed" &&
  !(
    it.link === "not_merged" &&
    world.pullRequests.some(
      (other) =>
        other.link !== "not_merged" &&
        other.session === it.session &&
        it.headBranch !== null &&
        other.headBranch === it.headBranch &&
        it.headRepository !== null &&
        other.headRepository === it.headRepository,
    )
  );

/** The pull request of a task that a context's calls belong to. */
function placeOf(world: Generated, task: string, context: Context): Merge | null {
  const { n } = context;
  const all = world.pullRequests.filter(
    (it) => it.session === task && it.link !== "claimed" && isOfBranch(it, context),
  );
  const merged = all.filter((it) => it.n !== null).sort((a, b) => (a.n ?? 0) - (b.n ?? 0));
  const later = merged.filter((it) => (it.n ?? 0) >= n);
  const soonest = later.filter((it) => it.n === later[0]?.n);
  const lastOf = (list: Merge[]) => list.toSorted((a, b) => a.number - b.number).at(-1) ?? null;
  if (soonest.length > 0) return lastOf(soonest);
  const open = lastOf(all.filter(({ link }) => link === "open"));
  if (open) return open;
  return lastOf(merged.filter((it) => it.n === merged.at(-1)?.n)) ?? lastOf(all);
}

/** The first pull request of a task without a known branch, which has what no branch claims. */
const unknownOf = (world: Generated, task: string): Merge | undefined =>
  world.pullRequests
    .filter((it) => it.session === task && it.headBranch === null && stands(world, it))
    .sort((a, b) => (a.n ?? 999) - (b.n ?? 999) || a.repository - b.repository || a.number - b.number)[0];

const EXPLAINED: Record<string, Explanation> = {
  joined: "joined",
  claimed: "claimed_or_conflict",
  open: "open",
  not_merged: "closed_unmerged",
};
const ORDER = ["joined", "claimed_or_conflict", "open", "closed_unmerged"];

/** What explains a call: its stretch's pull request or, if no context covers it, the best one of its session. */
function explanationOf(world: Generated, call: Call): Explanation {
  const context = contextOf(world, call);
  if (context) {
    const claim = world.pullRequests.find(
      (it) =>
        it.session === call.session &&
        it.link === "claimed" &&
        (it.headBranch === null || isOfBranch(it, context)),
    );
    const own = placeOf(world, call.session, context) ?? unknownOf(world, call.session) ?? claim;
    if (own) return EXPLAINED[own.link] ?? "joined";
    return context.repository === "eve/app" ? "outside_app" : "no_pull_request";
  }
  const named = world.pullRequests.filter(({ session }) => session === call.session);
  const [best] = named
    .map(({ link }) => EXPLAINED[link] ?? "joined")
    .sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  return best ?? "no_pull_request";
}

/** Before and after explanations are kept, from single records and from sums. */
async function expectExplained(world: Generated, orgId: string): Promise<void> {
  const wanted = Object.entries(Object.groupBy(world.requests, (call) => explanationOf(world, call))).map(
    ([name, list]) => [name, list.length, Number(usd(list) ?? 0)],
  );
  const now = new Date("2026-11-21T12:00:00.000Z");
  const asked = checkSpec({
    ...{ source: "requests", dimensions: ["explanation"], measures: ["requests", "cost_usd"], filters: {} },
    ...{ range: "7d", compare: "none", view: "table" },
  });
  const rollups = openRollups({ url, orgId });
  const rolled = reportRunner({ url, orgId, rollupsFrom: 0 });
  const looks = [
    () => engines.quickRunner(orgId),
    async () => {
      await rollups.catchUp(now);
      return rolled;
    },
    () => engines.quickRunner(orgId),
  ];
  for (const look of looks) {
    const { rows } = await (await look()).run(asked, now);
    const found = rows.map(({ groups, current }) => [
      ...[groups[0], current?.requests, current?.cost_usd ?? 0],
    ]);
    expect(found.toSorted()).toEqual(wanted.toSorted());
  }
  await Promise.all([rollups.close(), rolled.close()]);
}

/** The pull requests that have a call; of several of an unknown branch, the first one has what no branch claims. */
function holdersOf(world: Generated, call: Call): Merge[] {
  const named = world.pullRequests.filter((it) => it.session === call.session);
  if (!isSplit(world, call.session)) return named;
  const context = contextOf(world, call);
  const place = context && placeOf(world, call.session, context);
  if (place) return [place];
  const unknown = unknownOf(world, call.session);
  if (unknown) return [unknown];
  const standing = named.filter((it) => stands(world, it));
  return standing.length === 1 && context === null ? standing : [];
}

const isSplit = (world: Generated, session: string) =>
  world.requests.some((it) => it.session === session && contextOf(world, it) !== null);

const usd = (list: readonly Call[]): string | null => {
  const costs = list.flatMap(({ channel, cost }) => (channel === "subscription" ? [] : (cost ?? "none")));
  const known = costs.filter((cost) => cost !== "none").map(Number);
  if (known.length === 0 && list.length > 0) return null;
  return String(known.reduce((sum, cost) => sum + cost, 0));
};

/**
 * What a pull request costs, and whether that is a lower bound: calls of its session may be of any branch, or none of it is
 * known to be.
 */
function figureOf(world: Generated, merge: Merge) {
  const own = world.requests.filter((call) => holdersOf(world, call).includes(merge));
  const isLoose = (call: Call) =>
    call.session === merge.session && contextOf(world, call) === null && !own.includes(call);
  const uncertain = [...own.filter(({ cost }) => cost === null), ...world.requests.filter(isLoose)];
  const costUsd = usd(own);
  const isBilled = ({ channel }: Call) => channel !== "subscription";
  const isNone = isSplit(world, merge.session) && !own.some(isBilled);
  const isLowerBound = costUsd === null || isNone || uncertain.some(isBilled);
  return { requests: own.length, costUsd, isLowerBound };
}

const spec = (measures: string[]) =>
  checkSpec({
    ...{ source: "outcomes", dimensions: ["repository"], measures, filters: {} },
    ...{ range: "7d", compare: "none", view: "table" },
  });

async function expectPages(world: Generated): Promise<void> {
  const asked = world.pullRequests.map((it) => ({ ...it, repositoryId: it.repository }));
  const costs = await pullRequestCosts(database.db, asked);
  for (const merge of world.pullRequests) {
    const {
      subscription: _,
      lastAt: __,
      isOpen: ___,
      isSplit: split,
      ...cost
    } = costs.get(nameOf(merge)) ?? {};
    expect({ ...cost, split }).toEqual({ ...figureOf(world, merge), split: isSplit(world, merge.session) });
  }
  // What pull requests cost, and what counts for none, is all that their sessions cost.
  const tasks = [...new Map(asked.map((it) => [it.session, it])).values()];
  for (const one of tasks.filter(({ session }) => isSplit(world, session))) {
    const all = world.requests.filter(({ session }) => session === one.session);
    const stretches = await taskStretches(database.db, one);
    const sum = (of: typeof stretches) => of.reduce((total, it) => total + Number(it.costUsd ?? 0), 0);
    const ofTask = asked.filter(({ session }) => session === one.session);
    const shown = ofTask.reduce((total, it) => total + Number(costs.get(nameOf(it))?.costUsd ?? 0), 0);
    expect(sum(stretches)).toBe(Number(usd(all) ?? 0));
    expect(shown + sum(stretches.filter((it) => it.pullRequest === null))).toBe(Number(usd(all) ?? 0));
    expect(stretches.reduce((total, { requests }) => total + requests, 0)).toBe(all.length);
  }
}

const nameOf = ({ repository, number }: Merge) => `${repository}#${number}`;

/** Cost and lower bound of merges, a session that is not split once. */
function reported(world: Generated, merges: readonly Merge[]) {
  const joined = merges.filter(
    ({ session, link }) => link !== "claimed" && world.requests.some((it) => it.session === session),
  );
  const purses = new Map(
    joined.map((it) => [isSplit(world, it.session) ? nameOf(it) : it.session, figureOf(world, it)]),
  );
  const figures = [...purses.values()];
  return {
    cost: figures.reduce((sum, { costUsd }) => sum + Number(costUsd ?? 0), 0),
    floor: joined.length < merges.length || figures.some(({ isLowerBound }) => isLowerBound),
    joined: joined.length,
  };
}

async function expectReport(world: Generated, orgId: string): Promise<void> {
  await engines.wrote(orgId);
  const measures = spec(["merged_prs", "joined_prs", "cost_usd"]);
  const result = await engines.quickRunner(orgId).run(measures, new Date("2026-11-21T12:00:00.000Z"));
  const merged = world.pullRequests.filter(({ n }) => n !== null);
  const said = ({ current, floor }: (typeof result)["total"]) => ({
    cost: current?.["cost_usd"] ?? 0,
    floor,
    joined: current?.["joined_prs"],
  });
  expect(said(result.total)).toEqual(reported(world, merged));
  for (const row of result.rows) {
    const { id } = REPOSITORIES.find(({ fullName }) => fullName === row.groups[0]) ?? {};
    expect(said(row)).toEqual(
      reported(
        world,
        merged.filter(({ repository }) => repository === id),
      ),
    );
  }
}

const empty = () =>
  sql`truncate pull_requests, repositories, requests, session_contexts, session_stretches, session_agents, session_places, session_marks`;

test("each call of a session with contexts counts for one pull request at most, as pages and reports say", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      await empty();
      const orgId = `world-${run++}`;
      const half = Math.floor(world.requests.length / 2);
      const parts: World[] = [
        { repositories: REPOSITORIES, requests: world.requests.slice(0, half) },
        { contexts: world.contexts, pullRequests: world.pullRequests },
        { requests: world.requests.slice(half) },
      ];
      for (const org of ["default", orgId]) for (const part of parts) await seed(sql, org, part);
      await expectPages(world);
      await expectReport(world, orgId);
      await expectExplained(world, orgId);
    }),
    { numRuns: casesTried(6, 20) },
  );
});

test("a long session over two pull requests is split between them by every engine, and a third one's is not", async () => {
  const call = (n: number, session: string, cost: string) => ({ at: minute(n), owner: "ann", session, cost });
  const merge = (number: number, session: string, headBranch: string) => ({
    ...{ repository: 1, number, session, headBranch, mergedAt: minute(300), link: "joined" },
  });
  await seed(sql, "long", {
    repositories: REPOSITORIES,
    contexts: [
      { session: "s", owner: "ann", at: minute(10), branch: "one", repository: "acme/app" },
      { session: "s", owner: "ann", at: minute(20), branch: "two", repository: "acme/app" },
      { session: "s", owner: "ann", at: minute(30), branch: "main", repository: "acme/app" },
      { session: "t", owner: "ann", at: minute(10), branch: "main", repository: "acme/app" },
    ],
    requests: [
      ...[call(5, "s", "1"), call(15, "s", "2"), call(25, "s", "4"), call(35, "s", "8")],
      ...[call(5, "t", "16"), { ...call(15, "t", "32"), owner: "bob" }, call(5, "u", "64")],
    ],
    pullRequests: [
      ...[merge(1, "s", "one"), merge(2, "s", "two"), merge(3, "t", "three")],
      ...[merge(4, "u", "four"), merge(5, "u", "five")],
    ],
  });
  await engines.wrote("long");
  const measures = spec(["cost_usd", "joined_prs", "cost_per_merged_pr"]);
  const result = await engines.runner("long").run(measures, new Date("2026-11-21T12:00:00.000Z"));
  expect(result.total).toMatchObject({
    // 1 + 2, 4, what no context covers in t: 32, and u once.
    current: { cost_usd: 103, joined_prs: 5, cost_per_merged_pr: 20.6 },
    floor: false,
  });
});

test("a stretch counts for the pull request that was merged in its first second, not for the branch's next one", async () => {
  const merge = (number: number, n: number) => ({
    ...{ repository: 1, number, session: "s", headBranch: "one", mergedAt: minute(n), link: "joined" },
  });
  const at = minute(10).replace(".000", ".700");
  await empty();
  await seed(sql, "default", {
    repositories: REPOSITORIES,
    contexts: [{ session: "s", owner: "ann", at, branch: "one", repository: "acme/app" }],
    requests: [{ at: minute(5), owner: "ann", session: "s", cost: "1" }],
    pullRequests: [merge(1, 10), merge(2, 20)],
  });
  const asked = [1, 2].map((number) => ({ repositoryId: 1, number, session: "s" }));
  const costs = await pullRequestCosts(database.db, asked);
  expect(asked.map(({ number }) => costs.get(`1#${number}`)?.costUsd)).toEqual(["1", "0"]);
});

test("what a split merge cost after its first review is of its own stretches, to the quarter of an hour, by every engine", async () => {
  const call = (n: number, cost: string) => ({ at: minute(n), owner: "ann", session: "s", cost });
  const merge = (number: number, headBranch: string) => ({
    ...{
      repository: 1,
      number,
      session: "s",
      headBranch,
      mergedAt: minute(300),
      link: "joined",
      author: "ann",
    },
  });
  const context = (n: number, branch: string) => ({
    ...{ session: "s", owner: "ann", at: minute(n), branch, repository: "acme/app" },
  });
  await seed(sql, "reviewed", {
    repositories: REPOSITORIES,
    contexts: [context(0, "one"), context(50, "two"), context(100, "one"), context(150, "gone")],
    requests: [call(10, "1"), call(60, "2"), call(80, "4"), call(110, "8"), call(160, "16")],
    pullRequests: [merge(1, "one"), merge(2, "two")],
    reviews: [
      { repository: 1, number: 1, id: 1, reviewer: "bob", submittedAt: minute(40) },
      { repository: 1, number: 2, id: 2, reviewer: "bob", submittedAt: minute(75) },
    ],
  });
  await engines.wrote("reviewed");
  const now = new Date("2026-11-21T12:00:00.000Z");
  const result = await engines.runner("reviewed").run(spec(["review_fix_cost_usd", "cost_usd"]), now);
  expect(result.total.current).toEqual({ review_fix_cost_usd: 12, cost_usd: 15 });
});

test("hundreds of pull requests of one session with thousands of calls have their cost within a statement's time", async () => {
  const { url } = await testDatabase();
  const many = openDatabase(url, { name: "test", max: 1, statementTimeoutMs: 10_000 });
  const ownSql = testSql(url);
  try {
    await seed(ownSql, "default", {
      repositories: REPOSITORIES,
      requests: [{ at: minute(0), owner: "ann", session: "s", cost: "0.01" }],
      pullRequests: Array.from({ length: 300 }, (_, n) => ({
        ...{ repository: 1, number: n + 1, session: "s", mergedAt: minute(300), link: "joined" },
      })),
    });
    await ownSql`insert into requests
      select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'started_at', r.started_at + n * interval '1 second'))).*
      from requests r, generate_series(1, 4999) n`;
    const asked = Array.from({ length: 300 }, (_, n) => ({ repositoryId: 1, number: n + 1, session: "s" }));
    const costs = await pullRequestCosts(many.db, asked);
    expect(costs.get("1#1")).toMatchObject({ requests: 5_000, costUsd: "50.00", isLowerBound: false });
    expect(new Set([...costs.values()].map((it) => it.costUsd))).toEqual(new Set(["50.00"]));
    expect(costs.size).toBe(300);
  } finally {
    await many.close();
  }
});
