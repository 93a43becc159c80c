import { describe, expect, test } from "bun:test";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import { outcomes, receiveBy, startProbot } from "#github-app/inbox/probot.ts";
import { startWorker } from "#github-app/inbox/worker.ts";
import { systemClock } from "#shared/clock.ts";
import { keptLog, outcomeTables, testGithubApp } from "#test/support/github-app.ts";
import { pullRequestPayload } from "#test/support/github-payloads.ts";
import { until } from "#test/support/until.ts";

describe("a delivery that cannot be applied", () => {
  test("is tried again after a second, holds up nobody, and leaves only its failure's class", async () => {
    let failures = 1;
    const running = await testGithubApp({
      receive: (real) => async (delivery) => {
        if (delivery.deliveryId === "bad" && failures-- > 0) {
          throw Object.assign(new TypeError("CANARY of a message"), { code: "E_BAD" });
        }
        await real(delivery);
      },
    });
    const { sql } = running.database;
    const inbox = async (id: string) => (await sql`select * from webhook_inbox where delivery_id = ${id}`)[0];
    const start = performance.now();
    await running.deliver("pull_request", pullRequestPayload({ number: 1 }), { deliveryId: "bad" });
    await running.deliver("pull_request", pullRequestPayload({ number: 2 }), { deliveryId: "good" });
    await until(async () => (await inbox("good"))?.["processed_at"]);
    expect(await inbox("bad")).toMatchObject({ failure: "TypeError E_BAD", attempts: 1, processed_at: null });
    await running.applied();
    expect(performance.now() - start).toBeGreaterThan(500);
    expect(await inbox("bad")).toMatchObject({ failure: null, attempts: 1, processed_at: expect.any(Date) });
    expect(running.lines.join("\n")).toContain("TypeError E_BAD");
    expect(running.lines.join("\n")).not.toContain("CANARY");
    const { pullRequests } = await outcomeTables(running.database);
    expect(pullRequests.map((row) => row["number"])).toEqual([1, 2]);
    await running.close();
  });

  test("for facts that nobody wrote stays in the inbox with its failure, and changes nothing", async () => {
    const running = await testGithubApp();
    const { sql } = running.database;
    await sql`
      insert into webhook_inbox (org_id, delivery_id, event, action, occurred_at, received_at, facts)
      values ('default', 'odd', 'pull_request', 'opened', now(), now(), '{"body": "text"}'),
        ('default', 'unknown', 'push', null, now(), now(), '{}')`;
    await running.deliver("pull_request", pullRequestPayload());
    const failed = async () =>
      sql`select delivery_id, failure from webhook_inbox where failure is not null order by delivery_id`;
    await until(async () => (await failed()).length === 2);
    expect([...(await failed())]).toEqual([
      { delivery_id: "odd", failure: "UnreadableFacts" },
      { delivery_id: "unknown", failure: "UnreadableFacts" },
    ]);
    await running.close();
  });
});

test("two processes on one inbox apply every delivery once", async () => {
  const applied: string[] = [];
  const running = await testGithubApp({
    // So that the other one has its part, however the two are scheduled.
    receive: (real) => async (delivery) => {
      await until(() => applied.length > 0);
      await real(delivery);
    },
  });
  const { database } = running;
  const { log } = keptLog();
  const second = await startProbot(
    { app: null, apiUrl: "https://api.github.com", webhookSecrets: [] },
    log,
    outcomes({ database, clock: systemClock }),
  );
  const receive = receiveBy(second);
  const worker = startWorker(
    {
      database,
      clock: systemClock,
      log,
      receive: async (delivery) => {
        await receive(delivery);
        applied.push(delivery.deliveryId);
      },
    },
    { pollMs: 5, sweepMs: 1000, purgeMs: 1000 },
  );
  const deliveries = Array.from({ length: 100 }, (_, index) => index);
  await Promise.all(
    deliveries.map((index) =>
      running.deliver(
        "pull_request",
        pullRequestPayload({
          number: 1 + (index % 5),
          action: "edited",
          formerBody: "x",
          body: `Gateway-Session: s${index}`,
          at: `2026-11-01T10:${String(index % 60).padStart(2, "0")}:${String(index % 50).padStart(2, "0")}Z`,
        }),
      ),
    ),
  );
  await running.applied();
  await worker.stop();
  const { pullRequests } = await outcomeTables(database);
  expect(pullRequests.map((row) => [row["number"], row["session"]])).toEqual([
    [1, "s55"],
    [2, "s56"],
    [3, "s57"],
    [4, "s58"],
    [5, "s59"],
  ]);
  expect(applied.length).toBeGreaterThan(0);
  const failures = await database.sql`select failure from webhook_inbox where failure is not null`;
  expect(failures.length).toBe(0);
  await running.close();
});

test("applied deliveries are removed after eight days, others stay", async () => {
  const day = 86_400_000;
  const clock = { ...systemClock, now: () => new Date(Date.now() + 9 * day) };
  const running = await testGithubApp({ clock, stamping: false });
  const { sql } = running.database;
  await running.worker.stop();
  await sql`
    insert into webhook_inbox (org_id, delivery_id, event, occurred_at, received_at, facts, processed_at)
    values ('default', 'old', 'x', now(), now(), '{}', now()),
      ('default', 'young', 'x', now(), now(), '{}', now() + interval '5 days'),
      ('default', 'never', 'x', now(), now(), '{}', null)`;
  const { log } = keptLog();
  const worker = startWorker({ database: running.database, clock, log, receive: () => Promise.resolve() });
  const left = async () =>
    (await sql`select delivery_id from webhook_inbox order by 1`).map((row) => row["delivery_id"]);
  await until(async () => (await left()).length === 2);
  expect(await left()).toEqual(["never", "young"]);
  await worker.stop();
  await running.close();
});

test("the class of a failure is its innermost cause's, never a message", () => {
  const cause = Object.assign(new Error("values"), { name: "PostgresError", code: "40P01" });
  const wrapped = new AggregateError([new Error("Failed query: params: secret", { cause })], "many");
  expect(failureClass(wrapped)).toBe("PostgresError 40P01");
  expect(failureClass("text")).toBe("string");
  expect(failureClass(new AggregateError([]))).toBe("AggregateError");
});
