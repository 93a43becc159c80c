import { beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { checkSpec } from "#gateway/reports/spec.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { type Engines, reportEngines } from "#test/support/report-engines.ts";
import { keyId, type RequestFacts, seed } from "./world.ts";

const NOW = new Date("2026-11-21T12:00:00.000Z");
const AT = "2026-11-20T00:00:00Z";

let sql: postgres.Sql;
let engines: Engines;
beforeAll(async () => {
  const { url } = await testDatabase();
  sql = testSql(url);
  engines = await reportEngines(url);
});

/** One merge of session `s1`, to which `s2` was linked; further calls as told. */
async function merge(orgId: string, more: RequestFacts[], agents: Record<string, string>) {
  await seed(sql, orgId, {
    requests: [
      { at: AT, session: "s1", owner: "ann", cost: "1" },
      { at: AT, session: "s2", owner: "bob", cost: "0.25", teams: ["web"] },
      ...more,
    ],
    repositories: [{ id: 1, fullName: "acme/app" }],
    pullRequests: [{ repository: 1, number: 1, mergedAt: AT, link: "joined", session: "s1" }],
  });
  const place = {
    org_id: orgId,
    repository: "acme/app",
    branch: "b",
    key_id: keyId("a"),
    client: "cli",
    declared_at: AT,
  };
  for (const link of [
    { session: "s1", of_session: "s1", declarer: "ann", counts: false },
    { session: "s2", of_session: "s1", declarer: "bob", counts: true },
  ]) {
    await sql`insert into session_links ${sql({ ...place, ...link })}`;
  }
  for (const [session, agent] of Object.entries(agents)) {
    await sql`insert into session_agents ${sql({ org_id: orgId, session, agent_session: agent })}`;
  }
  await engines.wrote(orgId);
  const spec = {
    source: "outcomes",
    dimensions: ["team"],
    measures: ["cost_per_merged_pr", "users", "joined_prs"],
  };
  const checked = checkSpec({ ...spec, filters: {}, range: "7d", compare: "none", view: "table" });
  const { rows, total } = await engines.runner(orgId).run(checked, NOW);
  return { teams: rows.map(({ groups }) => groups[0]), total: total.current, floor: total.floor };
}

test("a merge costs what its session and the linked ones cost, for all persons of them", async () => {
  // Of another session altogether.
  const other = { at: AT, session: "s9", owner: "eve", cost: "8" };
  expect(await merge("linked", [other], { s1: "agent-1", s2: "agent-1" })).toEqual({
    teams: ["web"],
    total: { cost_per_merged_pr: 1.25, users: 2, joined_prs: 1 },
    floor: false,
  });
});

test("its cost is a lower bound where the agent made calls that no link covers", async () => {
  const uncovered = { at: AT, session: "s3", owner: "ann", cost: "4" };
  expect(await merge("uncovered", [uncovered], { s1: "agent-1", s3: "agent-1" })).toEqual({
    teams: ["web"],
    total: { cost_per_merged_pr: 1.25, users: 2, joined_prs: 1 },
    floor: true,
  });
});

test("calls of another person in a linked session are not part of it", async () => {
  const others = { at: AT, session: "s2", owner: "eve", cost: "16" };
  expect(await merge("others", [others], {})).toEqual({
    teams: ["web"],
    total: { cost_per_merged_pr: 1.25, users: 2, joined_prs: 1 },
    floor: false,
  });
});
