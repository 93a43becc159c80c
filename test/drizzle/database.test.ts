import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Database, openDatabase, readAddress, within } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { requests } from "#drizzle/schema/records.ts";
import { settings } from "#drizzle/schema/routes.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await testDatabase();
  database = openDatabase(home.url, { name: "test", max: 2, statementTimeoutMs: 500, lockTimeoutMs: 100 });
});

afterAll(async () => {
  await database.close();
  await home.close();
});

const codeOf = (work: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(work).then(
    () => "none",
    (error: { code?: string }) => error.code ?? "no code",
  );

describe("addresses", () => {
  test("a directory in ?host= is a Unix socket, and words of other clients are not sent to the server", () => {
    expect(readAddress("postgres://u:p@localhost/d?host=%2Frun%2Fpg&port=6000")).toEqual({
      url: "postgres://u:p@localhost/d",
      socketPath: "/run/pg/.s.PGSQL.6000",
    });
    expect(readAddress("postgres://u:p@h/d?sslmode=require&channel_binding=require&pgbouncer=true")).toEqual({
      url: "postgres://u:p@h/d?sslmode=require",
      socketPath: null,
    });
    expect(readAddress("postgres://u:p@a:1,b:2/d")).toEqual({
      url: "postgres://u:p@a:1,b:2/d",
      socketPath: null,
    });
  });
});

describe("sessions", () => {
  test("they are in UTC, named, and bounded by the server", async () => {
    const [row] = await database.sql`
      select current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement,
        current_setting('lock_timeout') as lock, current_setting('application_name') as name`;
    expect({ ...row }).toEqual({ zone: "UTC", statement: "500ms", lock: "100ms", name: "tallygate test" });
    expect(await codeOf(database.sql`select pg_sleep(5)`)).toBe("57014");
  });

  test("a read-only pool refuses to write", async () => {
    const sql = connect(home.url, { name: "reader", max: 1, statementTimeoutMs: 500, readOnly: true });
    expect(await codeOf(sql`create table t (a int)`)).toBe("25006");
    await sql.end();
  });

  test("a server that is not there is told within a second, every time", async () => {
    const sql = connect("postgres://u:p@127.0.0.1:1/d", { name: "lost", max: 1, statementTimeoutMs: 500 });
    for (let tries = 0; tries < 4; tries++) {
      const startedAt = performance.now();
      expect(await codeOf(sql`select 1`)).toBe("ECONNREFUSED");
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    }
    await sql.end({ timeout: 0 });
  });
});

describe("within", () => {
  test("a promise that is too slow is given up with code DEADLINE, a quick one passes", async () => {
    expect(await codeOf(within(20, new Promise(() => undefined)))).toBe("DEADLINE");
    expect(await within(1_000, Promise.resolve(7))).toBe(7);
    expect(await codeOf(within(1_000, Promise.reject(Object.assign(new Error(), { code: "X" }))))).toBe("X");
  });
});

describe("values", () => {
  test("times, money, lists and documents come back as they were given", async () => {
    const row = {
      id: "01a1fe13-8adc-7423-a9ff-4eb1cd515c52",
      startedAt: "2026-11-21T11:52:00.120Z",
      surface: "messages",
      channel: "api",
      state: "ok",
      streamed: true,
      attempts: 1,
      route: "echo",
      routeSource: "model",
      keyId: "01a1fe13-8adc-7423-a9ff-4eb1cd515c53",
      client: 'a "quoted", {curly} client',
      tags: ["plain", 'with "quote"', "with, comma", "back\\slash", "NULL"],
      usageSource: "provider",
      costUsd: "0.000000000123456789012345",
      unpriced: false,
      partial: false,
      price: { entry: "openai/gpt", rows: [{ unit: "input", count: 3, usdPerUnit: "0.00000015" }] },
    } as const;
    await database.db
      .insert(requests)
      .values({ ...row, tags: [...row.tags], price: { entry: row.price.entry, rows: [...row.price.rows] } });
    const [back] = await database.db.select().from(requests);
    expect(back).toMatchObject(row as never);
    expect(back?.owner).toBeNull();
  });

  test("drizzle's client leaves the dates of the plain one alone", async () => {
    await database.db
      .insert(settings)
      .values({ value: DEFAULT_SETTINGS, updatedAt: "2026-11-21T00:00:00.000Z" });
    const [plain] = await database.sql`select value, updated_at from settings`;
    expect({ ...plain }).toEqual({ value: DEFAULT_SETTINGS, updated_at: new Date("2026-11-21T00:00:00Z") });
    expect(await database.sql`select ${new Date(0)}::timestamptz = 'epoch' as same`).toEqual([
      { same: true },
    ] as never);
  });
});

describe("migrations", () => {
  test("four processes at once on an empty database all succeed", async () => {
    const name = `empty_${crypto.randomUUID().replaceAll("-", "")}`;
    const admin = connect(home.url, { name: "test", max: 1, statementTimeoutMs: 10_000 });
    await admin.unsafe(`create database ${name}`);
    const url = home.url.replace(/\/t_[0-9a-f]+\?/, `/${name}?`);
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => codeOf(migrate(url))));
    expect(outcomes).toEqual(["none", "none", "none", "none"]);
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });
});
