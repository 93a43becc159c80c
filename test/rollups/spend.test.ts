import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { type Database, openDatabase, type Transaction } from "#drizzle/database.ts";
import { listSpend } from "#gateway/stores/spend.ts";
import { SPEND_BY } from "#shared/admin/spend.ts";
import { edges, worldOf } from "#test/reports/arbitraries.ts";
import { seed } from "#test/reports/world.ts";
import { type Ledger, ledger } from "./ledger.ts";

let it: Ledger;
let database: Database;
beforeAll(async () => {
  it = await ledger();
  database = openDatabase(it.database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
});
afterAll(async () => {
  await database.close();
  await it.close();
});

const NOW = new Date("2026-03-31T10:42:33.123Z");
const WINDOW = { month_from: "2026-03-01T00:00:00.000Z", from: "2026-02-10T00:00:00.000Z", sumsFrom: 0 };

const spend = async (reader: Pick<Transaction, "execute">) =>
  await Promise.all(
    SPEND_BY.map(async (by) =>
      (await listSpend(reader, by, WINDOW)).toSorted((a, b) => a.name.localeCompare(b.name)),
    ),
  );

/** The same from single records alone. */
async function single(): Promise<unknown> {
  let found: unknown;
  await database.db
    .transaction(async (tx) => {
      await tx.execute(sql`delete from rollup_state`);
      found = await spend(tx);
      tx.rollback();
    })
    .catch(() => undefined);
  return found;
}

test("the spend of lists is that of the records: summed up, in part, and changed since", async () => {
  const worlds = fc.sample(worldOf(edges, 80), { numRuns: 24, seed: 12 });
  const dated = (from: number, minute: number) =>
    worlds
      .slice(from, from + 12)
      .flatMap(({ requests = [] }) => requests)
      .map((record, i) => ({
        ...record,
        at: new Date(NOW.getTime() - i * 11 * 3_600_000 - minute * 60_000).toISOString(),
      }));
  await seed(it.sql, "default", { requests: dated(0, 3) });
  const expected = await single();
  expect((expected as unknown[][]).every((rows) => rows.length > 1)).toBe(true);
  expect(await spend(database.db)).toEqual(expected as never);
  await it.rollups.catchUp(new Date("2026-03-20T00:00:00Z"));
  expect(await spend(database.db)).toEqual(expected as never);
  const more = dated(12, 7);
  await seed(it.sql, "default", { requests: more });
  for (const { at } of more) {
    await it.sql`insert into rollup_marks (org_id, hour, id)
      values ('default', date_trunc('hour', ${at}::timestamptz), ${Bun.randomUUIDv7()})`;
  }
  const changed = await single();
  expect(changed).not.toEqual(expected);
  expect(await spend(database.db)).toEqual(changed as never);
  await it.rollups.catchUp(NOW);
  expect(await spend(database.db)).toEqual(changed as never);
});
