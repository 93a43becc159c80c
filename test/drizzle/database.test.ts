import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { arrayOverlaps, inArray } from "drizzle-orm";
import fc from "fast-check";
import { connect, type Database, openDatabase, readAddress, within } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { ours } from "#drizzle/ours.ts";
import { requests } from "#drizzle/schema/records.ts";
import { settings } from "#drizzle/schema/routes.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { databaseLine } from "#test/support/database-line.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await testDatabase();
  database = openDatabase(home.url, { name: "test", max: 2, statementTimeoutMs: 60_000, lockTimeoutMs: 100 });
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

// What an administrator of a Postgres may have set for older applications. `escape` made every client key unknown.
test("settings of the server's own do not change what is read", async () => {
  const [own] = await database.sql`select current_database() as name`;
  const set = (text: string) => database.sql.unsafe(`alter database ${own?.["name"]} ${text}`);
  const odd = { bytea_output: "escape", extra_float_digits: "-15", timezone: "Asia/Kolkata" };
  const older = { default_transaction_isolation: "serializable", standard_conforming_strings: "off" };
  for (const [name, value] of Object.entries({ ...odd, ...older })) await set(`set ${name} = '${value}'`);
  const fresh = openDatabase(home.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  try {
    const [row] = await fresh.sql`select '\\xdeadbeef'::bytea as bytes, (1609.5::float8)::text as figure,
      '2026-11-20T23:30:00Z'::timestamptz::text as instant,
      current_setting('transaction_isolation') as isolation, 'a\\b' as text`;
    expect(row).toEqual({
      bytes: Buffer.from("deadbeef", "hex"),
      figure: "1609.5",
      instant: "2026-11-20 23:30:00+00",
      isolation: "read committed",
      text: "a\\b",
    });
  } finally {
    await fresh.close();
    await set("reset all");
  }
});

test("a condition whose value is missing fails, instead of letting every row in", async () => {
  // A cast, or a caller without types, can bring this about.
  const isMissing = { updatedAt: undefined } as unknown as { updatedAt: string };
  expect(await codeOf(database.db.delete(settings).where(ours(settings, isMissing)))).not.toBe("none");
});

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
    expect({ ...row }).toEqual({ zone: "UTC", statement: "1min", lock: "100ms", name: "tallygate test" });
    const hasty = connect(home.url, { name: "hasty", max: 1, statementTimeoutMs: 50 });
    expect(await codeOf(hasty`select pg_sleep(60)`)).toBe("57014");
    await hasty.end();
  });

  test("a read-only pool refuses to write", async () => {
    const sql = connect(home.url, { name: "reader", max: 1, statementTimeoutMs: 60_000, readOnly: true });
    expect(await codeOf(sql`create table t (a int)`)).toBe("25006");
    await sql.end();
  });

  test("a server that is not there is told every time", async () => {
    const sql = connect("postgres://u:p@127.0.0.1:1/d", { name: "lost", max: 1, statementTimeoutMs: 500 });
    for (let tries = 0; tries < 4; tries++) {
      expect(await codeOf(sql`select 1`)).toBe("ECONNREFUSED");
    }
    await sql.end({ timeout: 0 });
  });
});

describe("connections that break", () => {
  test("a new connection asks nothing but what it was made for, so that nobody's question can be rejected", async () => {
    const received: string[] = [];
    const ready = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket, data) {
          received.push(data.toString("latin1"));
          // Authenticated and ready after the first message; gone after the second.
          if (received.length === 1) socket.write(ready);
          else socket.end();
        },
      },
    });
    const sql = connect(`postgres://u:p@127.0.0.1:${server.port}/d`, {
      name: "x",
      max: 1,
      statementTimeoutMs: 500,
    });
    expect(await codeOf(sql`select 'ours'`)).toBe("CONNECTION_CLOSED");
    expect(received.slice(1).every((text) => text.includes("select 'ours'"))).toBe(true);
    server.stop(true);
    await sql.end({ timeout: 0 });
  });

  test("a connection that is lost while a query is being written is made again, and ends at once", async () => {
    const line = await databaseLine(home.url);
    const options = { name: "cut", max: 1, statementTimeoutMs: 60_000 };
    const clients = Array.from({ length: 20 }, () => connect(line.url, options));
    const codes = new Set<string>();
    const ask = async (sql: (typeof clients)[number]) => {
      await Bun.sleep(Math.random() * 6);
      codes.add(await codeOf(sql`select 1`));
    };
    for (let round = 0; round < 5; round++) {
      const asked = clients.flatMap((sql) => [ask(sql), ask(sql), ask(sql)]);
      await Bun.sleep(Math.random() * 6);
      line.cut();
      await Bun.sleep(Math.random() * 6);
      line.mend();
      await Promise.all(asked);
      await Promise.all(clients.map((sql) => codeOf(sql`select 1`)));
    }
    // A connection that was never made again says CONNECT_TIMEOUT.
    expect(["none", "ECONNRESET", "CONNECTION_CLOSED"]).toEqual(expect.arrayContaining([...codes]));
    // A client that takes a rejected query for a running one would wait for the hour.
    const running = clients.map((sql) => codeOf(sql`select pg_sleep(1)`));
    line.cut();
    await Promise.all(running);
    await Promise.all(clients.map((sql) => sql.end({ timeout: 3_600 })));
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
      price: "input 3 0.00000015|openai/gpt",
    } as const;
    await database.db.insert(requests).values({ ...row, tags: [...row.tags] });
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

describe("arrays", () => {
  const roundTrip = async (type: string, values: unknown) =>
    (await database.sql.unsafe(`select $1::${type} as back`, [values as never]))[0]?.["back"];

  test("any list of texts comes back as it was given", async () => {
    const item = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "NULL", "null", "{}", "a,b", '"', "\\", "\n", null),
    );
    const storable = (it: string | null) => it === null || (it.isWellFormed() && !it.includes("\0"));
    await fc.assert(
      fc.asyncProperty(fc.array(item.filter(storable)), async (values) => {
        expect(await roundTrip("text[]", values)).toEqual(values);
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ["integer[]", [1, -2, null]],
    ["bigint[]", ["9007199254740993"]],
    ["numeric[]", ["0.10", "123456789012345678901234567890"]],
    ["double precision[]", [0.5, -1]],
    ["uuid[]", ["01a1fe13-8adc-7423-a9ff-4eb1cd515c52"]],
    ["jsonb[]", [{ a: ['"'] }, [1]]],
    ["text[]", []],
    [
      "text[][]",
      [
        ["a", "b,"],
        ["}", null],
      ],
    ],
  ] as const)("%s comes back as it was given", async (type, values) => {
    expect(await roundTrip(type, values)).toEqual(values as never);
  });

  test("a list is a parameter of `any`, and drizzle finds it too", async () => {
    const [row] =
      await database.sql`select 'b' = any(${["a", "b"]}) as found, '[2:3]={7,8}'::int[] as shifted,
      array['epoch'::timestamptz] as times, array[true, null] as truths`;
    expect({ ...row }).toEqual({ found: true, shifted: [7, 8], times: [new Date(0)], truths: [true, null] });
    expect(
      (
        await database.db
          .select()
          .from(requests)
          .where(arrayOverlaps(requests.tags, ["with, comma"]))
      ).length,
    ).toBe(1);
    expect(
      (
        await database.db
          .select()
          .from(requests)
          .where(inArray(requests.client, ["nobody"]))
      ).length,
    ).toBe(0);
  });
});

describe("migrations", () => {
  test("four processes at once on an empty database all succeed", async () => {
    const name = `empty_${crypto.randomUUID().replaceAll("-", "")}`;
    const admin = connect(home.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await admin.unsafe(`create database ${name}`);
    const url = home.url.replace(/\/t_[0-9a-f]+\?/, `/${name}?`);
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => codeOf(migrate(url))));
    expect(outcomes).toEqual(["none", "none", "none", "none"]);
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });

  test("what the server refuses is said in its words", async () => {
    const name = `taken_${crypto.randomUUID().replaceAll("-", "")}`;
    const admin = connect(home.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await admin.unsafe(`create database ${name}`);
    const url = home.url.replace(/\/t_[0-9a-f]+\?/, `/${name}?`);
    const client = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await client.unsafe("create table settings (anything text)");
    await client.end();
    await expect(migrate(url)).rejects.toThrow('relation "settings" already exists');
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });

  // It would be migrated and ready, and every record with a letter that it lacks would be refused afterwards.
  test("a database that cannot hold every letter is refused at once, and told why", async () => {
    const name = `latin_${crypto.randomUUID().replaceAll("-", "")}`;
    const admin = connect(home.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await admin.unsafe(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
    const url = home.url.replace(/\/t_[0-9a-f]+\?/, `/${name}?`);
    await expect(migrate(url)).rejects.toThrow("its encoding is LATIN1 and must be UTF8");
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });
});
