import { beforeAll, expect, test } from "bun:test";
import { installations, repositories } from "#drizzle/schema/github.ts";
import { coverageChanges, githubPasses } from "#drizzle/schema/github-app.ts";
import { type World, world } from "./world.ts";

let it: World;

const at = "2026-11-01T00:00:00.000Z";

beforeAll(async () => {
  it = await world();
  const { db } = it.database;
  await db
    .insert(installations)
    .values({ id: 1, accountLogin: "acme", accountId: 9, state: "active", changedAt: at });
  await db.insert(repositories).values([
    { id: 10, installationId: 1, fullName: "acme/api", formerNames: ["acme/old"], changedAt: at },
    { id: 11, installationId: 1, fullName: "acme/web", formerNames: [], covered: false, changedAt: at },
  ]);
  await db.insert(coverageChanges).values([
    { installationId: 1, repositoryId: 10, at, kind: "added" },
    { installationId: 1, repositoryId: 11, at, kind: "added" },
    { installationId: 1, repositoryId: 11, at: "2026-11-02T00:00:00.000Z", kind: "removed" },
  ]);
  await db
    .insert(githubPasses)
    .values({ repositoryId: 10, installationId: 1, watermark: at, phase: "reviews", page: 3, dueAt: at });
});
test("repositories are listed with the time in which the App saw them and how far they were read", async () => {
  const { body } = await it.call("GET", "/repositories?limit=1");
  expect(body).toMatchObject({
    data: [
      {
        id: "10",
        name: "acme/api",
        account: "acme",
        covered: true,
        windows: [{ from: at, until: null, end: null }],
        reading: { phase: "reviews", read_up_to: at, failure: null },
      },
    ],
    has_more: true,
    next: "10",
  });
  const { body: rest } = await it.call("GET", "/repositories?after=10");
  expect(rest).toMatchObject({
    data: [{ name: "acme/web", covered: false, windows: [{ end: "removed" }], reading: null }],
    has_more: false,
  });
});

test("a repository can be read again from a day on; an unknown one is none", async () => {
  const again = await it.call("POST", "/repositories/backfill", {
    since: "2026-01-01",
    repository: "Acme/API",
  });
  expect(again).toMatchObject({ status: 200, body: { repositories: 1 } });
  const [pass] = await it.database.db.select().from(githubPasses);
  expect(pass).toMatchObject({ phase: "idle", page: 1, watermark: null, stopAt: "2026-01-01T00:00:00.000Z" });
  expect((await it.call("POST", "/repositories/backfill", { repository: "acme/none" })).status).toBe(404);
  expect((await it.call("POST", "/repositories/backfill", { since: "soon" })).status).toBe(400);
  // What was refused is no entry of the audit log.
  const log = await it.call("GET", "/audit?action=repositories.backfill&subject=acme/none");
  expect([log.status, log.body.data]).toEqual([200, []]);
});
