import { Database as Sqlite } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { priceText } from "#drizzle/price-text.ts";
import { GatewayError } from "#gateway/errors.ts";
import { newId } from "#shared/ids.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import { openRow, removeOwnDirectories, settledRow, testRecorder } from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";

let database: TestDatabase;
let gate: PostgresGate;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  gate = await postgresGate(database.url);
  sql = connect(database.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
});

afterAll(async () => {
  await sql.end();
  await gate.close();
  await database.close();
  removeOwnDirectories();
});

const stored = (id: string) => sql`select * from requests where id = ${id}`;

describe("a call's way to Postgres", () => {
  test("a settled call is one row with its final state, exact cost and labels", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const row = openRow({ session: "s-1", owner: "ana", tags: ["a,b", 'c"d', "é"] });
    await recorder.open(row);
    await recorder.settle(
      settledRow(row, {
        costUsd: "0.000000000000000001",
        price: priceText({ entry: "p1", rows: [{ unit: "input", count: 10, usdPerUnit: "0.1" }] }),
      }),
    );
    await recorder.flushed(60_000);

    const [one, ...more] = await stored(row.id);
    expect(more).toEqual([]);
    expect(one).toMatchObject({
      org_id: "default",
      state: "ok",
      session: "s-1",
      owner: "ana",
      tags: ["a,b", 'c"d', "é"],
      cost_usd: "0.000000000000000001",
      price: priceText({ entry: "p1", rows: [{ unit: "input", count: 10, usdPerUnit: "0.1" }] }),
      reasoning_tokens: null,
    });
    expect(one?.["started_at"]).toEqual(new Date(row.startedAt));
    expect(recorder.stats()).toMatchObject({ backlog: 0, parked: 0, oldestMs: null, open: 0 });
    await recorder.close(2000);
  });

  test("a call that ends while its recorder closes, as one that the stop cut off, is recorded with its usage", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const row = openRow();
    await recorder.open(row);
    const closing = recorder.close(60_000);
    await Bun.sleep(200);
    await recorder.settle(settledRow(row));
    await closing;
    expect(recorder.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(await stored(row.id)).toMatchObject([{ state: "ok" }]);
  });

  test("the first settle of a call wins, before and after it has reached Postgres", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const row = openRow();
    await recorder.open(row);
    await Promise.all([
      recorder.settle(settledRow(row, { state: "client_gone" })),
      recorder.settle(settledRow(row, { state: "ok" })),
    ]);
    await recorder.flushed(60_000);
    await recorder.settle(settledRow(row, { state: "upstream_error" }));
    await recorder.flushed(60_000);
    expect((await stored(row.id)).map((one) => one["state"])).toEqual(["client_gone"]);
    await recorder.close(2000);
  });

  test("what is not hurried is stored with the next batch, by itself", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const rows = [openRow(), openRow()];
    for (const row of rows) {
      await recorder.settle(settledRow(row, { state: "ok" }));
      await recorder.flushed(60_000, false);
      expect(await stored(row.id)).toHaveLength(1);
    }
    await recorder.close(2000);
  });

  test("a record is stored after Postgres has been told of its call's reservation, which it removes", async () => {
    const told = Promise.withResolvers<void>();
    let asked = false;
    const order = {
      get told() {
        asked = true;
        return told.promise;
      },
    };
    const recorder = await testRecorder({ databaseUrl: database.url, order });
    const row = openRow();
    await recorder.settle(settledRow(row));
    await until(async () => asked);
    expect(await stored(row.id)).toHaveLength(0);
    told.resolve();
    await recorder.flushed(60_000);
    expect(await stored(row.id)).toHaveLength(1);
    await recorder.close(2000);
  });

  test("a call that was refused before it was opened is recorded all the same", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const row = settledRow(openRow(), { state: "denied", status: 403, costUsd: "0" });
    await recorder.settle(row);
    await recorder.flushed(60_000);
    expect((await stored(row.id)).map((one) => one["state"])).toEqual(["denied"]);
    await recorder.close(2000);
  });

  test("a row without columns that have a default is stored with the default", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const { orgId: _, agentId: __, ...old } = settledRow(openRow());
    await recorder.settle(old);
    await recorder.flushed(60_000);
    expect((await stored(old.id)).map((one) => one["org_id"])).toEqual(["default"]);
    await recorder.close(2000);
  });

  test("an opened call is on disk when open resolves, and the spool is empty once all is in Postgres", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const row = openRow();
    await recorder.open(row);
    const [file = ""] = readdirSync(recorder.directory).filter((name) => name.endsWith(".db"));
    const reader = new Sqlite(join(recorder.directory, file), { readonly: true });
    expect(reader.query("select body from intents").all()).toEqual([{ body: JSON.stringify(row) }]);
    reader.close();
    expect(recorder.stats().open).toBe(1);
    await recorder.settle(settledRow(row));
    await recorder.close(5000);
    expect(readdirSync(recorder.directory)).toEqual([]);
    expect(recorder.log.lines.filter(({ level }) => level !== "info")).toEqual([]);
  });

  test("with SPOOL_SYNC=full a call is recorded the same way", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url, sync: "full" });
    const row = openRow();
    await recorder.open(row);
    await recorder.settle(settledRow(row));
    await recorder.flushed(60_000);
    expect((await stored(row.id)).map((one) => one["state"])).toEqual(["ok"]);
    await recorder.close(5000);
    expect(readdirSync(recorder.directory)).toEqual([]);
  });

  test("a closed recorder takes no call", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    await recorder.close(1000);
    expect(recorder.accepting()).toBe(false);
    const error = await recorder.open(openRow()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error.type).toBe("cannot_record");
  });
});

describe("rows that Postgres refuses", () => {
  test("one bad row of a batch is parked and the others are stored", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const good = Array.from({ length: 40 }, () => settledRow(openRow()));
    const bad = settledRow(openRow(), { inputTokens: 3_000_000_000 });
    await Promise.all([...good.slice(0, 17), bad, ...good.slice(17)].map((row) => recorder.settle(row)));
    await recorder.flushed(60_000);

    const [count] =
      await sql`select count(*)::int as n from requests where id = any(${good.map(({ id }) => id)})`;
    expect(count?.["n"]).toBe(40);
    expect(await stored(bad.id)).toHaveLength(0);
    expect(await sql`select code, key_id from dead_records where id = ${bad.id}`).toMatchObject([
      { code: "22003", key_id: bad.keyId },
    ]);
    expect(recorder.stats()).toMatchObject({ backlog: 0, parked: 1 });
    expect(recorder.log.lines).toContainEqual({
      level: "error",
      message: "Postgres refused a record, which was parked",
      id: bad.id,
      code: "22003",
    });
    await recorder.close(2000);
  });

  test("a NUL or half a surrogate pair in a label blocks nothing", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const rows = [
      settledRow(openRow(), { userLabel: "a\0b" }),
      settledRow(openRow(), { tags: ["\ud800"] }),
      settledRow(openRow()),
    ];
    for (const row of rows) await recorder.settle(row);
    await recorder.flushed(60_000);
    expect(await stored(rows[2]!.id)).toHaveLength(1);
    expect(recorder.stats()).toMatchObject({ backlog: 0, parked: 2 });
    await recorder.close(2000);
  });

  test("a value too long for an index, and an id that is none, block nothing", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(6000))).toString("base64");
    const rows = [
      settledRow(openRow(), { providerRequestId: noise }),
      settledRow(openRow({ id: "no-uuid" })),
      settledRow(openRow()),
    ];
    for (const row of rows) await recorder.settle(row);
    await recorder.flushed(60_000);
    expect(await stored(rows[2]!.id)).toHaveLength(1);
    expect(recorder.stats()).toMatchObject({ backlog: 0, parked: 2 });
    await recorder.close(2000);
  });

  test("a parked row stays in the spool, whole, over a restart", async () => {
    const first = await testRecorder({ databaseUrl: database.url });
    const bad = settledRow(openRow(), { latencyMs: 3_000_000_000 });
    await first.settle(bad);
    await first.close(5000);

    const second = await testRecorder({ databaseUrl: database.url, directory: first.directory });
    await until(() => readdirSync(first.directory).filter((name) => name.endsWith(".db")).length === 1);
    expect(second.stats().parked).toBe(1);
    const [file = ""] = readdirSync(first.directory).filter((name) => name.endsWith(".db"));
    const reader = new Sqlite(join(first.directory, file), { readonly: true });
    expect(reader.query("select code, body from parked").all()).toEqual([
      { code: "22003", body: JSON.stringify(bad) },
    ]);
    reader.close();
    await second.close(2000);
  });
});

describe("Postgres away", () => {
  test("calls go on, wait in the spool, and are stored once it is back", async () => {
    const recorder = await testRecorder({ databaseUrl: gate.url });
    await gate.shut();
    const rows = Array.from({ length: 1200 }, () => openRow());
    for (const row of rows) await recorder.open(row);
    await Promise.all(rows.map((row) => recorder.settle(settledRow(row))));
    expect(recorder.accepting()).toBe(true);
    expect(recorder.stats().backlog).toBe(1200);
    await expect(recorder.flushed(700)).rejects.toThrow("not all reached Postgres");
    expect(recorder.stats().oldestMs).toBeGreaterThanOrEqual(700);

    await gate.open();
    await recorder.flushed(60_000);
    const [count] =
      await sql`select count(*)::int as n from requests where id = any(${rows.map(({ id }) => id)})`;
    expect(count?.["n"]).toBe(1200);
    await recorder.close(2000);
  });

  test("what cannot be written before the end of a stop is written after the next start", async () => {
    await gate.shut();
    const first = await testRecorder({ databaseUrl: gate.url });
    const ended = openRow();
    const running = openRow();
    await first.open(ended);
    await first.open(running);
    await first.settle(settledRow(ended));
    await first.close(100);
    await gate.open();

    const second = await testRecorder({ databaseUrl: gate.url, directory: first.directory });
    await second.flushed(60_000);
    expect((await stored(ended.id)).map((one) => one["state"])).toEqual(["ok"]);
    expect(await stored(running.id)).toMatchObject([
      { state: "interrupted", usage_source: "none", unpriced: true, cost_usd: null },
    ]);
    await second.close(2000);
    expect(readdirSync(first.directory)).toEqual([]);
  });

  test("a row and its later interrupted twin are one row: the one that came first", async () => {
    const recorder = await testRecorder({ databaseUrl: database.url });
    const row = openRow({ id: newId() });
    await recorder.settle(settledRow(row));
    await recorder.flushed(60_000);
    await recorder.settle(row);
    await recorder.flushed(60_000);
    expect((await stored(row.id)).map((one) => one["state"])).toEqual(["ok"]);
    await recorder.close(2000);
  });
});
