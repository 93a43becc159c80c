import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq, getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { openDatabase, type Transaction } from "#drizzle/database.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { bootstrap } from "#gateway/stores/bootstrap.ts";
import { type DirectoryRows, directoryReader } from "#gateway/stores/directory/load-directory.ts";
import { insertKey, revokeKey } from "#gateway/stores/keys.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { recordedLog } from "#test/admin/world.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const FACTS = { owner: null, team: null, scopes: {}, limits: null, expiresAt: null };
const now = systemClock.now();

let database: ReturnType<typeof openDatabase>;

beforeAll(async () => {
  const { url } = await testDatabase();
  database = openDatabase(url, { name: "reader", max: 4, statementTimeoutMs: 60_000 });
  const keepFirstKey = async () => undefined;
  const log = recordedLog();
  await bootstrap({ database, providerKeys: new Map(), keepFirstKey, clock: systemClock, log });
});
afterAll(() => database.close());

const made = (facts: { owner?: string; team?: string } = {}) =>
  database.db.transaction((tx) => insertKey(tx, { ...FACTS, ...facts, name: newId() }, now));
const run = (statement: string) => database.sql.unsafe(statement);
const sorted = (rows: DirectoryRows) => ({
  ...rows,
  keys: rows.keys.toSorted(([a], [b]) => a.localeCompare(b)),
});

/** A reader that also gives the tables that it selected from. */
function watched() {
  let tables: string[] = [];
  const noting = <It extends object>(it: It): It =>
    new Proxy(it, {
      get(target, name) {
        const member = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          if (name === "from") tables.push(getTableName(given[0] as PgTable));
          const result = member.apply(target, given);
          return name === "select" ? noting(result) : result;
        };
      },
    });
  const transaction = ((work: (tx: Transaction) => Promise<unknown>, config: object) =>
    database.db.transaction((tx) => work(noting(tx)), config)) as typeof database.db.transaction;
  const read = directoryReader({
    ...database,
    db: Object.assign(Object.create(database.db), { transaction }),
  });
  return async () => {
    tables = [];
    const rows = await read();
    return { rows, tables: tables.toSorted() };
  };
}

/** A transaction of another database on the server may be under way for a moment: then more is read. */
const untilReads = (read: ReturnType<typeof watched>, tables: string[], change: () => Promise<unknown>) =>
  until(async () => {
    const before = (await read()).rows;
    await change();
    const after = await read();
    return Bun.deepEquals(after.tables, tables) && { before, after: after.rows };
  });

test("a change of one part reads that part alone, and the others stay the same objects", async () => {
  const read = watched();
  expect((await read()).tables).toContain("providers");
  const changed = (of: { before: DirectoryRows; after: DirectoryRows }) =>
    Object.entries(of.after).flatMap(([part, it]) =>
      it === of.before[part as keyof DirectoryRows] ? [] : part,
    );
  for (let count = 0; count < 50; count++) await made();
  expect(changed(await untilReads(read, [], async () => undefined))).toEqual([]);
  const made1 = await untilReads(read, ["budgets", "key_secrets"], () => made());
  expect(changed(made1)).toEqual(["keys"]);
  expect(made1.after.keys).toHaveLength(made1.before.keys.length + 1);
  expect(made1.after.keys[0]?.[1]).toBe(made1.before.keys[0]?.[1] ?? expect.unreachable());
  const routed = await untilReads(read, ["routes"], () => run("update routes set description = 'other'"));
  expect(changed(routed)).toEqual(["routes"]);
});

const PERSON = "insert into people (id, email, name, budget_usd, created_at, updated_at) values";
const TEAM = "insert into teams (name, budget_usd, budget_period, created_at, updated_at) values";
const CHANGES: [name: string, change: () => Promise<unknown>][] = [
  ["a key made", () => made({ owner: "Ann@example.com" })],
  ["its owner made", () => run(`${PERSON} ('${newId()}', 'ann@example.com', 'Ann', 5, now(), now())`)],
  ["its owner's budget changed", () => run("update people set budget_usd = 6")],
  ["its owner removed", () => run("delete from people where email = 'ann@example.com'")],
  [
    "a key revoked while another is made",
    async () => {
      const { id } = await made();
      await database.db.transaction((tx) => revokeKey(tx, id, now));
      await made();
    },
  ],
  ["a team made", () => run(`${TEAM} ('a', 5, 'month', now(), now()), ('b', 6, 'month', now(), now())`)],
  ["a key of a team", () => made({ team: "a" })],
  ["the key moved", () => run("update keys set team = 'b' where team = 'a'")],
  ["the team removed", () => run("delete from teams where name = 'b'")],
  [
    "a secret replaced",
    () => run("delete from key_secrets where id = (select min(id::text)::uuid from key_secrets)"),
  ],
  ["all secrets ended", () => run("update key_secrets set expires_at = '2030-01-01'")],
  ["a provider removed", () => run("delete from providers where name = 'echo'")],
  ["settings changed", () => run(`update settings set value = '{"retention_days": 33}'`)],
];

test("what is read after each change is what a whole reading gives", async () => {
  const read = directoryReader(database);
  await read();
  for (const [name, change] of CHANGES) {
    await change();
    expect([name, sorted(await read())]).toEqual([name, sorted(await directoryReader(database)())]);
  }
});

test("a change that began before a reading and ended after it is seen by the next, also behind a younger one", async () => {
  const read = directoryReader(database);
  await read();
  const { id } = await made();
  const name = async () => (await read()).keys.find(([, key]) => key.id === id)?.[1].name;
  await database.db.transaction(async (tx) => {
    await tx.update(keys).set({ name: "renamed" }).where(eq(keys.id, id));
    await made();
    expect(await name()).not.toBe("renamed");
  });
  await made();
  expect(await name()).toBe("renamed");
});
