import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { pullRequestCosts } from "#drizzle/session-cost.ts";
import { weekBefore } from "#gateway/digest/digest-of.ts";
import { putDigestWebhook, removeDigestWebhook } from "#gateway/digest/digest-rows.ts";
import { type DigestDeps, doDigests, makeDigest } from "#gateway/digest/digests.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import { addressGuard } from "#gateway/upstream/ssrf.ts";
import { DigestState } from "#shared/admin/digest.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { fits } from "#shared/schema.ts";
import { DEFAULT_SETTINGS, type Settings } from "#shared/settings.ts";
import { seed } from "#test/reports/world.ts";
import { keptLog } from "#test/support/github-app.ts";
import { localGateway } from "#test/support/local-gateway.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

type Received = { headers: Headers; body: string };
const received: Received[] = [];
let answers = 200;
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    received.push({ headers: request.headers, body: await request.text() });
    await Bun.sleep(50);
    return new Response(null, {
      status: answers,
      headers: answers === 302 ? { location: "/elsewhere" } : {},
    });
  },
});

let own: TestDatabase;
let database: Database;
let runner: ReturnType<typeof reportRunner>;
beforeAll(async () => {
  own = await testDatabase();
  database = openDatabase(own.url, { name: "test", max: 6, statementTimeoutMs: 60_000 });
  runner = reportRunner({ url: own.url });
  await seed(database.sql, DEFAULT_ORG, WORLD);
});
afterAll(async () => {
  await runner.close();
  await database.close();
  await own.close();
  await receiver.stop(true);
});

/** Two weeks: from the 9th, and from the 16th to the 22nd. */
const WORLD = {
  repositories: [
    { id: 1, fullName: "acme/api" },
    { id: 2, fullName: "acme/web" },
  ],
  requests: [
    { at: "2026-11-10T10:00:00Z", session: "s0", cost: "4", owner: "ada" },
    { at: "2026-11-17T10:00:00Z", session: "s1", cost: "1.5", owner: "ada" },
    { at: "2026-11-17T11:00:00Z", session: "s1", cost: "0.25", owner: "ada" },
    { at: "2026-11-17T12:00:00Z", session: "s1", cost: "9", channel: "subscription" as const },
    { at: "2026-11-18T10:00:00Z", session: "s2", cost: "2", owner: "bob" },
    { at: "2026-11-19T10:00:00Z", cost: "10", owner: "bob" },
  ],
  pullRequests: [
    { repository: 1, number: 1, mergedAt: "2026-11-11T12:00:00Z", link: "joined", session: "s0" },
    { repository: 1, number: 2, mergedAt: "2026-11-17T12:00:00Z", link: "joined", session: "s1" },
    { repository: 1, number: 3, mergedAt: "2026-11-18T12:00:00Z", link: "joined", session: "s1" },
    { repository: 2, number: 1, mergedAt: "2026-11-18T12:00:00Z", link: "joined", session: "s2" },
    // Reverts both of the first repository's of this week, and the one of the week before.
    {
      repository: 1,
      number: 4,
      mergedAt: "2026-11-20T12:00:00Z",
      link: "no_stamp",
      revertsByBody: [1, 2, 3].map((number) => ({ repository: null, number })),
    },
  ],
};

let now = new Date("2026-11-20T12:00:00Z");
const clock: Clock = { now: () => now, monotonicMs: () => performance.now() };
const sealer = createSealer(new Uint8Array(32).fill(7));
const { log, lines } = keptLog();
let settings: Settings = DEFAULT_SETTINGS;

const deps = (): DigestDeps => ({
  database,
  reportWriter: { write: async (spec, at) => JSON.stringify(await runner.run(spec, at)) },
  directory: { current: () => ({ settings }) },
  sealer,
  reach: createOutboundFetch(addressGuard(clock)),
  clock,
  log,
});
/** A gateway that does one round at a time. */
const gateway = () => ({ round: () => doDigests(deps()) });
const rows = () => database.sql`select due_on, channel, state, failure from digests order by due_on, channel`;
const states = async () => (await rows()).map((row) => `${row["due_on"]} ${row["channel"]} ${row["state"]}`);

const setWebhook = (path = "") =>
  database.db.transaction((tx) =>
    putDigestWebhook(tx, sealer, {
      url: `http://127.0.0.1:${receiver.port}/hook${path}`,
      allowPrivateNetwork: true,
      now,
    }),
  );

beforeEach(async () => {
  await database.sql`truncate digests, digest_webhooks`;
  received.length = 0;
  answers = 200;
  settings = DEFAULT_SETTINGS;
  now = new Date("2026-11-20T12:00:00Z");
});

const costOf = async (number: number) =>
  (await pullRequestCosts(database.db, [{ repositoryId: 1, number, session: "s1" }])).get(`1#${number}`);

test("the figures are those of the reports, each session once, and reverts have their cost", async () => {
  const digest = await makeDigest(deps(), weekBefore(new Date("2026-11-23T07:00:00Z")));
  expect(digest).toMatchObject({
    period: { from: "2026-11-16T00:00:00.000Z", to: "2026-11-23T00:00:00.000Z" },
    previous_period: { from: "2026-11-09T00:00:00.000Z", to: "2026-11-16T00:00:00.000Z" },
    repositories_left_out: 0,
  });
  expect(digest.not_joined).toEqual({ no_stamp: 1, conflict: 0, unknown_session: 0, claimed: 0 });
  expect(digest.total).toEqual({
    current: {
      merged_prs: 4,
      joined_prs: 3,
      reverted_prs: 2,
      cost_usd: 3.75,
      cost_per_merged_pr: 0.9375,
      reverted_cost_usd: 1.75,
      lower_bound: true,
    },
    previous: {
      merged_prs: 1,
      joined_prs: 1,
      reverted_prs: 1,
      cost_usd: 4,
      cost_per_merged_pr: 4,
      reverted_cost_usd: 4,
      lower_bound: false,
    },
  });
  expect(
    digest.repositories.map((it) => [it.repository, it.current?.cost_usd, it.current?.reverted_cost_usd]),
  ).toEqual([
    ["acme/web", 2, 0],
    ["acme/api", 1.75, 1.75],
  ]);
  // What a comment on a pull request says comes to the same.
  expect(await costOf(2)).toEqual({
    requests: 3,
    costUsd: "1.75",
    isLowerBound: false,
    isSplit: false,
    lastAt: expect.any(String),
    isOpen: false,
    subscription: { requests: 1, listUsd: "9", isLowerBound: false },
  });
  expect(digest.spend).toMatchObject({ previousUsd: 4, currentUsd: 13.75, deltaUsd: 9.75 });
});

test("what a session cost is known after its single records are gone for their age", async () => {
  const org = "default";
  const { sql } = database;
  await sql`
    insert into rollup_state (org_id, rolled_to, raw_from) values (${org}, '2026-11-20', '2026-11-17T11:00:00Z')
    on conflict (org_id) do update set raw_from = excluded.raw_from`;
  const zeros = Object.fromEntries(
    [
      "unpriced",
      "input_tokens",
      "output_tokens",
      "cached_tokens",
      "priced_input_tokens",
      "priced_output_tokens",
    ]
      .concat(["latency_sum", "latency_count", "ttft_sum", "ttft_count"])
      .map((name) => [name, 0]),
  );
  const hour = {
    ...zeros,
    org_id: org,
    hour: "2026-11-17T10:00:00Z",
    day: "2026-11-17",
    channel: "api",
    client: "c",
    route: "r",
    key_id: Bun.randomUUIDv7(),
    session: "s1",
    tags: [],
    records: 2,
    uncertain: 1,
    cost_usd: "1.500000000000000001",
    first_at: "2026-11-17T10:00:00Z",
  };
  await sql`insert into rollup_hours ${sql([hour])}`;
  // The record of 10:00 does not count: it is in the sums.
  expect(await costOf(2)).toEqual({
    requests: 4,
    costUsd: "1.750000000000000001",
    isLowerBound: true,
    isSplit: false,
    lastAt: expect.any(String),
    isOpen: false,
    subscription: { requests: 1, listUsd: "9", isLowerBound: false },
  });
  await sql`delete from rollup_hours`;
  await sql`update rollup_state set raw_from = null`;
});

describe("a webhook", () => {
  test("gets each week's digest once, signed, whoever makes it and however often they start again", async () => {
    const { secret } = await setWebhook("?token=abc");
    await gateway().round();
    // What was due before anybody knew of digests is not sent.
    expect(await states()).toEqual(["2026-11-16 issue skipped", "2026-11-16 webhook skipped"]);
    now = new Date("2026-11-23T07:00:05Z");
    await Promise.all([gateway(), gateway(), gateway()].map((it) => it.round()));
    await gateway().round();
    now = new Date("2026-11-29T23:00:00Z");
    await gateway().round();
    expect(received).toHaveLength(1);
    expect(await states()).toContain("2026-11-23 webhook sent");

    const { headers, body } = received[0] ?? { headers: new Headers(), body: "" };
    const [id, at] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    expect(key).toHaveLength(32);
    expect(headers.get("webhook-signature")).toBe(
      `v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`,
    );
    expect(Number(at)).toBe(Date.parse("2026-11-23T07:00:05Z") / 1000);
    const payload = JSON.parse(body);
    expect(payload).toMatchObject({ type: "tallygate.digest", due_on: "2026-11-23" });
    expect(payload.text).toContain("- Merged pull requests: **4** (1)");
    expect(payload.digest.total.current.cost_usd).toBe(3.75);
  });

  test("that fails is tried again with the same id, and a redirect is not followed", async () => {
    await setWebhook();
    await gateway().round();
    now = new Date("2026-11-23T07:00:00Z");
    answers = 302;
    await gateway().round();
    await gateway().round();
    expect(received).toHaveLength(1);
    now = new Date("2026-11-23T07:02:00Z");
    answers = 500;
    await gateway().round();
    now = new Date("2026-11-23T07:10:00Z");
    answers = 204;
    await gateway().round();
    await gateway().round();
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    expect(await states()).toContain("2026-11-23 webhook sent");
  });

  test("that is dead for a week is given up for the next digest", async () => {
    await setWebhook();
    await gateway().round();
    now = new Date("2026-11-23T07:00:00Z");
    answers = 500;
    await gateway().round();
    now = new Date("2026-11-30T07:00:00Z");
    answers = 200;
    await gateway().round();
    expect((await states()).filter((it) => it.includes("webhook"))).toEqual([
      "2026-11-16 webhook skipped",
      "2026-11-23 webhook given_up",
      "2026-11-30 webhook sent",
    ]);
  });

  test("on an address of the inside is never called unless an administrator allows it", async () => {
    await setWebhook();
    await database.sql`update digest_webhooks set allow_private_network = false`;
    await gateway().round();
    now = new Date("2026-11-23T07:00:00Z");
    await gateway().round();
    expect(received).toEqual([]);
    expect(await states()).toContain("2026-11-23 webhook waiting");
  });

  test("address and secret are in no row and no line of the log", async () => {
    const { secret } = await setWebhook("?token=CANARY-91");
    await gateway().round();
    now = new Date("2026-11-23T07:00:00Z");
    answers = 500;
    await gateway().round();
    const [row] = await database.sql`select t::text as text from digest_webhooks t`;
    const kept = [row?.["text"], JSON.stringify(await rows()), ...lines].join("\n");
    expect(kept).not.toContain("CANARY-91");
    expect(kept).not.toContain(secret.slice(10));
  });
});

test("switching on sends nothing of the past, and switching the day sends no second one soon after", async () => {
  await gateway().round();
  now = new Date("2026-11-25T12:00:00Z");
  await gateway().round();
  await setWebhook();
  await gateway().round();
  expect(received).toEqual([]);
  now = new Date("2026-11-30T08:00:00Z");
  await gateway().round();
  settings = { ...DEFAULT_SETTINGS, digest_day: "wednesday" };
  now = new Date("2026-12-02T08:00:00Z");
  await gateway().round();
  expect(received).toHaveLength(1);
  now = new Date("2026-12-09T08:00:00Z");
  await gateway().round();
  expect(received).toHaveLength(2);
  await database.db.transaction((tx) => removeDigestWebhook(tx));
  now = new Date("2026-12-16T08:00:00Z");
  await gateway().round();
  expect(received).toHaveLength(2);
});

test("for an issue it is only kept: the GitHub App writes it", async () => {
  settings = { ...DEFAULT_SETTINGS, digest_repository: "acme/api" };
  await gateway().round();
  now = new Date("2026-11-23T07:00:00Z");
  await gateway().round();
  expect(await states()).toContain("2026-11-23 issue waiting");
});

test("a real gateway tells, keeps and prints it", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tallygate-digest-"));
  const gateway_ = await localGateway({ dataDir, databaseUrl: own.url });
  try {
    const set = await gateway_.admin<{ host: string; secret: string }>("PUT", "/digest/webhook", {
      url: `http://127.0.0.1:${receiver.port}/hook`,
      allow_private_network: true,
    });
    expect(set.host).toBe(`127.0.0.1:${receiver.port}`);
    expect(set.secret).toStartWith("whsec_");
    await expect(
      gateway_.admin("PUT", "/digest/webhook", {
        url: "http://169.254.169.254/x",
        allow_private_network: true,
      }),
    ).rejects.toThrow();
    const state = await gateway_.admin("GET", "/digest");
    expect(fits(DigestState, state)).toBe(true);
    expect(JSON.stringify(state)).not.toContain(set.secret);

    const run = Bun.spawn(
      [process.execPath, "gateway/cli/tallygate.ts", "digest", "--dry-run", "--url", gateway_.url],
      {
        env: {
          PATH: process.env["PATH"] ?? "",
          ADMIN_KEY: "tga_test-admin-key-of-the-suite-0000000000000000",
        },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const printed = await new Response(run.stdout).text();
    expect(await run.exited).toBe(0);
    expect(printed).toStartWith("AI cost of merged pull requests, ");
    expect(printed).toContain("- Merged pull requests: ");
    await gateway_.admin("DELETE", "/digest/webhook");
    const audit = await gateway_.admin<{ data: { action: string; subject: string }[] }>("GET", "/audit");
    expect(audit.data.slice(0, 2).map(({ action, subject }) => [action, subject])).toEqual([
      ["digest_webhook.deleted", `127.0.0.1:${receiver.port}`],
      ["digest_webhook.set", `127.0.0.1:${receiver.port}`],
    ]);
    expect(received).toEqual([]);
  } finally {
    await gateway_.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
