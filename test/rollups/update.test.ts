import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { MIGRATIONS_DIRECTORY } from "#drizzle/migrate.ts";
import { edges, worldOf } from "#test/reports/arbitraries.ts";
import { seed } from "#test/reports/world.ts";
import { type Ledger, ledger } from "./ledger.ts";

let it: Ledger;
beforeAll(async () => {
  it = await ledger();
});
afterAll(async () => await it.close());

const NOW = new Date("2026-03-31T10:42:33.123Z");
const TABLES = ["rollup_sums", "rollup_distinct_deltas", "rollup_active_days"];

/** The statements of updates that add sums of records which were summed up before there were teams, and that take counts away. */
async function statements(): Promise<string[]> {
  const files = readdirSync(MIGRATIONS_DIRECTORY).filter((name) => name.endsWith(".sql"));
  const texts = await Promise.all(files.map((name) => Bun.file(join(MIGRATIONS_DIRECTORY, name)).text()));
  const hand = texts
    .flatMap((text) => text.split(/-- (?:By hand|Generated):/))
    .filter((text) => /no cost centre|no longer read/.test(text));
  const all = hand.flatMap((text) => text.replace(/^.*\n/, "").split("--> statement-breakpoint"));
  return all.filter((statement) => statement.trim() !== "");
}

/** Sessions are counted in all and by person. Old sums of other kinds have counts that no report reads. */
const UNREAD = `'cell' - case when to_jsonb(t) ->> 'kind' in ('total', 'subject') then '{}' else array['sessions', 'billed_sessions'] end`;

const snapshot = () =>
  Promise.all(
    TABLES.map(async (table) => {
      const rows = await it.sql.unsafe<{ row: string }[]>(
        `select (to_jsonb(t) - ${UNREAD})::text as row from ${table} t`,
      );
      return rows.map(({ row }) => row).sort();
    }),
  );

test("sums of before there were teams become those that a rebuild makes", async () => {
  const [world] = fc.sample(worldOf(edges, 60), { numRuns: 1, seed: 7 });
  const requests = (world?.requests ?? []).map((record) => ({ ...record, teams: null, costCenter: null }));
  await seed(it.sql, "default", { requests });
  await it.rollups.catchUp(NOW);
  const expected = await snapshot();
  expect(expected[2]?.length).toBeGreaterThan(0);

  await it.sql`delete from rollup_sums where kind in ('team', 'cost_center')`;
  await it.sql`delete from rollup_distinct_deltas where kind = 'team'`;
  await it.sql`
    delete from rollup_active_days d using (
      select distinct coalesce(user_label, owner) as person from rollup_sessions
    ) p
    where d.who = md5('person' || chr(31) || 'team' || chr(31) || '(none)' || chr(31) || p.person)::uuid`;
  expect(await snapshot()).not.toEqual(expected);
  for (const statement of await statements()) await it.sql.unsafe(statement);
  expect(await snapshot()).toEqual(expected);
});
