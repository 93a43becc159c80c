import { beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { seed } from "#test/reports/world.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";

// Which calls a context covers, as triggers sum them up whenever a call or a context comes.

let url: string;
let sql: postgres.Sql;
beforeAll(async () => {
  ({ url } = await testDatabase());
  sql = testSql(url);
});

const minute = (n: number) => `2026-11-20T10:${String(n).padStart(2, "0")}:00.000Z`;
const call = (n: number, cost: string, session: string, agentSession: string | null = null) => ({
  ...{ at: minute(n), owner: "Ann", session, agentSession, cost },
});
const context = (n: number, session: string, branch: string, owner = "ann") => ({
  ...{ session, owner, at: minute(n), branch },
});

const sums = async (orgId: string) => {
  const rows = await sql<{ branch: string; session: string; records: number; usd: string }[]>`
    select c.branch, s.session, sum(s.records)::int as records, sum(s.cost_usd)::text as usd
    from session_stretches s join session_contexts c on c.org_id = s.org_id and c.id = s.context
    where s.org_id = ${orgId} group by 1, 2 having sum(s.records) > 0 order by 1, 2`;
  return rows.map(({ branch, session, records, usd }) => `${branch} ${session} ${records} ${usd}`);
};

test("a context covers its maker's calls until the next one, and the first one earlier calls, in any order of arrival", async () => {
  const requests = [
    call(1, "1", "s"),
    call(5, "2", "s"),
    call(9, "4", "s"),
    { ...call(5, "8", "s"), owner: "bob" },
    { ...call(5, "16", "s"), owner: null },
    call(5, "32", "other"),
  ];
  const contexts = [context(3, "s", "one"), context(7, "s", "two")];
  const whole = ["one s 2 3", "two s 1 4"];
  await seed(sql, "calls-first", { requests });
  for (const one of contexts) await seed(sql, "calls-first", { contexts: [one] });
  expect(await sums("calls-first")).toEqual(whole);
  await seed(sql, "contexts-first", { contexts });
  for (const one of requests) await seed(sql, "contexts-first", { requests: [one] });
  expect(await sums("contexts-first")).toEqual(whole);
});

test("an agent's own contexts come before those of the session that counts", async () => {
  await seed(sql, "own", {
    contexts: [context(0, "gs", "task"), context(0, "agent-1", "own")],
    requests: [call(1, "1", "gs", "agent-1"), call(1, "2", "gs", "agent-2"), call(1, "4", "gs")],
  });
  expect(await sums("own")).toEqual(["own gs 1 1", "task gs 2 6"]);
  await seed(sql, "own", { contexts: [context(2, "agent-2", "late")] });
  expect(await sums("own")).toEqual(["late gs 1 2", "own gs 1 1", "task gs 1 4"]);
});

test("a price that is found later reaches the sums", async () => {
  await seed(sql, "prices", {
    contexts: [context(0, "s", "one")],
    requests: [{ ...call(1, "1", "s"), cost: null }, call(2, "2", "s")],
  });
  const uncertain = async () =>
    (
      await sql`select sum(uncertain)::int as n from session_stretches
    where org_id = 'prices'`
    )[0]?.["n"];
  expect([await sums("prices"), await uncertain()]).toEqual([["one s 2 2"], 1]);
  await sql`update requests set cost_usd = 4, unpriced = false where org_id = 'prices' and cost_usd is null`;
  expect([await sums("prices"), await uncertain()]).toEqual([["one s 2 6"], 0]);
});

test("a call that is stored while a context is declared is covered, whichever comes first", async () => {
  const orgId = "at-once";
  const writers = Array.from({ length: 5 }, () => testSql(url));
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      seed(
        writers[n % 5] ?? sql,
        orgId,
        n % 4 === 0 ? { contexts: [context(n, "s", `b${n % 8}`)] } : { requests: [call(n, "1", "s")] },
      ),
    ),
  );
  // 0 to 3, 8 to 11, and 16 to 19 are the first branch's.
  expect(await sums(orgId)).toEqual(["b0 s 9 9", "b4 s 6 6"]);
});
