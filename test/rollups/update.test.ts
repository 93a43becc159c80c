import { expect, test } from "bun:test";
import fc from "fast-check";
import { connect } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { reportRunner } from "#gateway/reporting.ts";
import type { Spec } from "#shared/report.ts";
import { edges, worldOf } from "#test/reports/arbitraries.ts";
import { seed } from "#test/reports/world.ts";
import { atEnd } from "#test/support/at-end.ts";
import { migrationsUntil } from "#test/support/earlier-migrations.ts";
import { ledger } from "./ledger.ts";

const NOW = new Date("2026-03-31T10:42:33.123Z");
const DROPPED = "2026-04-01T00:00:00Z";

const CELLS = ["rollup_hours", "rollup_sessions"];

/** Sums of whole days, with persons by name. */
const SUMS = `
  select (to_jsonb(s) - 'people')::text as row, (
    select array_agg(p.person order by p.person) from rollup_people p
    where p.n < length(s.people) and get_bit(s.people, p.n) = 1) as people
  from rollup_sums s where grain = 'day' and at < '2026-03-31' order by 1`;

const SPECS = (["client", "model", "route", "subject", "team", "week"] as const).map(
  (name): Spec => ({
    source: "requests",
    dimensions: [name],
    measures: ["requests", "cost_usd", "users", "sessions", "active_hours"],
    filters: {},
    range: { from: null, to: "2026-03-31T00:00:00Z" },
    compare: "none",
    view: "table",
  }),
);

test("sums of dropped months have after an update what they had, and persons and sessions are counted", async () => {
  const made = await ledger();
  atEnd(made.close);
  const [world] = fc.sample(worldOf(edges, 60), { numRuns: 1, seed: 7 });
  await seed(made.sql, "default", { requests: world?.requests ?? [] });
  await made.rollups.catchUp(NOW);
  const sums = [...(await made.sql.unsafe(SUMS))];
  expect(sums.filter(({ people }) => people).length).toBeGreaterThan(20);

  const name = `old_${crypto.randomUUID().replaceAll("-", "")}`;
  await made.sql.unsafe(`create database ${name}`);
  const url = made.database.url.replace(/\/t_[0-9a-f]+\?/, `/${name}?`);
  await migrate(url, migrationsUntil("0004_fourth"));
  const sql = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  for (const table of CELLS) {
    const [cells] =
      await made.sql.unsafe(`select jsonb_agg(to_jsonb(t) || jsonb_build_object('cell', n))::text as rows
      from (select *, row_number() over () as n from ${table}) t`);
    await sql.unsafe(
      `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
      [cells?.["rows"]],
    );
  }
  await sql`insert into rollup_state (org_id, rolled_to, raw_from) values ('default', ${DROPPED}, ${DROPPED})`;
  await migrate(url);
  expect<unknown>([...(await sql.unsafe(SUMS))]).toEqual(sums);
  const updated = reportRunner({ url, rollupsFrom: 0 });
  for (const spec of SPECS) expect(await updated.run(spec, NOW)).toEqual(await made.rolled.run(spec, NOW));
  await Promise.all([sql.end(), updated.close()]);
});
