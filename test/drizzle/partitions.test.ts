import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TransactionSql } from "postgres";
import { connect } from "#drizzle/database.ts";
import { ensurePartitions, monthsAround } from "#drizzle/partitions.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

const NOW = new Date("2026-11-21T12:00:00Z");

let database: TestDatabase;
let sql: ReturnType<typeof connect>;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.url, { name: "test", max: 4, statementTimeoutMs: 60_000 });
});

afterAll(async () => {
  await sql.end();
  await database.close();
});

const insert = (
  startedAt: string,
  id: string = crypto.randomUUID(),
  by: typeof sql | TransactionSql = sql,
) => by`
  insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, key_id,
    client, tags, usage_source, unpriced, partial)
  values (${id}, ${startedAt}, 'messages', 'api', 'ok', false, 1, 'r', 'model', ${id}, 'c', '{}', 'provider', false, false)`;

const homes = async () =>
  Object.fromEntries(
    (await sql`select tableoid::regclass::text as home, count(*)::int as rows from requests group by 1`).map(
      ({ home, rows }) => [home, rows],
    ),
  );

describe("monthly partitions", () => {
  test("the months round a date are the one before, its own and two ahead, across years and at month ends", () => {
    const tables = (at: string) =>
      monthsAround(new Date(at)).map(({ table }) => table.slice("requests_".length));
    expect(tables("2026-11-21T12:00:00Z")).toEqual(["2026_10", "2026_11", "2026_12", "2027_01"]);
    expect(tables("2027-01-31T23:59:59Z")).toEqual(["2026_12", "2027_01", "2027_02", "2027_03"]);
    expect(monthsAround(new Date("2028-02-29T00:00:00Z"))[1]).toEqual({
      table: "requests_2028_02",
      from: "2028-02-01",
      to: "2028-03-01",
    });
  });

  test("records that went to the default partition move into their month, and no others do", async () => {
    await insert("2026-11-01T00:00:00Z");
    await insert("2026-11-30T23:59:59.999Z");
    await insert("2031-01-01T00:00:00Z");
    expect(await homes()).toEqual({ requests_default: 3 });
    expect(await ensurePartitions(database.url, NOW)).toEqual([
      "requests_2026_10",
      "requests_2026_11",
      "requests_2026_12",
      "requests_2027_01",
    ]);
    expect(await homes()).toEqual({ requests_2026_11: 2, requests_default: 1 });
  });

  test("a second call makes nothing, and a month later one is added", async () => {
    expect(await ensurePartitions(database.url, NOW)).toEqual([]);
    expect(await ensurePartitions(database.url, new Date("2026-12-01T00:00:00Z"))).toEqual([
      "requests_2027_02",
    ]);
  });

  test("four processes at once make each month once", async () => {
    const later = new Date("2027-06-15T00:00:00Z");
    const made = await Promise.all([1, 2, 3, 4].map(() => ensurePartitions(database.url, later)));
    expect(made.flat().sort()).toEqual([...new Set(made.flat())].sort());
    expect(made.flat().length).toBe(4);
  });

  test("a month is attached while a writer has another month open, and writing goes on meanwhile", async () => {
    await sql.begin(async (writer) => {
      await insert("2026-12-24T18:00:00Z", undefined, writer);
      const made = await ensurePartitions(database.url, new Date("2028-01-10T00:00:00Z"));
      expect(made.length).toBe(4);
      await insert("2026-12-24T18:00:01Z", undefined, writer);
    });
    await insert("2028-01-11T00:00:00Z");
    expect(await homes()).toMatchObject({ requests_2026_12: 2, requests_2028_01: 1 });
  });

  test("when a long report holds the default partition, the try ends and leaves nothing half made", async () => {
    const later = new Date("2029-01-10T00:00:00Z");
    await sql.begin(async (report) => {
      await report`select count(*) from requests`;
      expect(await ensurePartitions(database.url, later).catch((error: { code: string }) => error.code)).toBe(
        "55P03",
      );
    });
    expect((await ensurePartitions(database.url, later)).length).toBe(4);
  });

  test("a month has the primary key and the indexes of the whole", async () => {
    const id = crypto.randomUUID();
    await insert("2026-12-24T18:00:00Z", id);
    const again = await insert("2026-12-24T18:00:00Z", id).catch((error: { code: string }) => error.code);
    expect(again).toBe("23505");
    const [indexes] =
      await sql`select count(*)::int as n from pg_indexes where tablename = 'requests_2026_12'`;
    const [parent] = await sql`select count(*)::int as n from pg_indexes where tablename = 'requests'`;
    expect(indexes?.["n"]).toBe(parent?.["n"]);
  });
});
