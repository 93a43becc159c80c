import { beforeAll, describe, expect, test } from "bun:test";
import type { ClickHouseClient } from "@clickhouse/client";
import { getTableConfig, type PgColumn } from "drizzle-orm/pg-core";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { dropOldMonths } from "#drizzle/retention.ts";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { endMarking } from "#gateway/stores/clickhouse/begin.ts";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { differences } from "#gateway/stores/clickhouse/compare.ts";
import { isKnown } from "#gateway/stores/clickhouse/identity.ts";
import { expireCopies, keepCopies } from "#gateway/stores/clickhouse/keep.ts";
import { moveRecords } from "#gateway/stores/clickhouse/move.ts";
import {
  COPIED,
  COPIED_TABLES,
  type CopiedTable,
  copiedColumns,
  createTable,
  createTables,
} from "#gateway/stores/clickhouse/schema.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Spec } from "#shared/report.ts";
import { atEnd } from "#test/support/at-end.ts";
import { HAS_CLICKHOUSE, startClickHouse, type TestClickHouse } from "#test/support/clickhouse.ts";
import { keptLog } from "#test/support/embedded.ts";
import { casesOf, longTest } from "#test/support/fault-run.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { openRow, settledRow, testRecorder } from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";

let server: TestClickHouse;
beforeAll(async () => {
  if (HAS_CLICKHOUSE) server = await startClickHouse();
});

/** A Postgres and a ClickHouse of a test, and what copies from one to the other. */
async function stores() {
  const databaseUrl = (await testDatabase()).url;
  const sql = connect(databaseUrl, { name: "test", max: 3, statementTimeoutMs: 60_000 });
  atEnd(() => sql.end({ timeout: 1 }));
  const clickhouse = { url: await server.database(), cluster: null };
  const client = openClickHouse(clickhouse.url, { name: "test", timeoutMs: 30_000, connectionsMax: 2 });
  atEnd(() => client.close());
  const log = keptLog();
  const copying = (clock = systemClock, noteWaiting = (_rows: number) => {}) => {
    const kept = keepCopies({ databaseUrl, clickhouse }, { clock, log, copies: { noteWaiting } });
    return { stop: atEnd(() => kept.stop()) };
  };
  return { databaseUrl, sql, client, clickhouse, log, copying, copied: () => untilCopied(sql) };
}

/** A record that is written in a transaction which has not ended. */
async function openWrite(url: string) {
  const sql = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const [written, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const recorder = await testRecorder({ databaseUrl: url });
  await recorder.settle(settledRow(openRow()));
  await recorder.close(10_000);
  const transaction = sql.begin(async (tx) => {
    await tx`update requests set latency_ms = latency_ms + 1`;
    written.resolve();
    await ended.promise;
  });
  await written.promise;
  return {
    async end() {
      ended.resolve();
      await transaction;
      await sql.end();
    },
  };
}

const untilCopied = (sql: postgres.Sql) =>
  until(
    async () =>
      (await sql`select 1 from clickhouse_state where version > 0`).length > 0 &&
      (await sql`select 1 from clickhouse_marks limit 1`).length === 0,
  );

const all = async (client: ClickHouseClient, query: string) =>
  await (await client.query({ query, format: "JSONEachRow" })).json();

describe.skipIf(!HAS_CLICKHOUSE)("the way of records to ClickHouse", () => {
  test("a record is there as it is in Postgres, and with its new cost after repricing", async () => {
    const { databaseUrl, sql, client, copying, copied } = await stores();
    copying();
    const recorder = await testRecorder({ databaseUrl });
    const row = settledRow(
      openRow({ session: "s", teams: ["a,b", 'c"d'], parentSession: "p", costUsd: null }),
      {
        costUsd: null,
        unpriced: true,
      },
    );
    await recorder.settle(row);
    await recorder.flushed(60_000);
    await until(async () => (await sql`select 1 from clickhouse_state where version > 0`).length > 0);
    await copied();
    const found = () =>
      all(
        client,
        "select id, started_at, session, teams, cost_usd, price, unpriced, images from requests final",
      );
    expect(await found()).toEqual([
      {
        id: row.id,
        started_at: row.startedAt.replace("T", " ").replace("Z", ""),
        session: "s",
        teams: ["a,b", 'c"d'],
        cost_usd: null,
        price: null,
        unpriced: true,
        images: null,
      },
    ]);
    await sql`update requests set cost_usd = 0.000000000000000001, unpriced = false`;
    await copied();
    expect(await found()).toMatchObject([{ cost_usd: "0.000000000000000001", unpriced: false }]);
    await recorder.close(5000);
  });

  test("what Postgres has already is moved day by day, goes on where it ended, and is compared", async () => {
    const { databaseUrl, sql, client, log, clickhouse } = await stores();
    const recorder = await testRecorder({ databaseUrl });
    const days = ["2026-01-30", "2026-01-31", "2026-02-01"];
    for (const [n, day] of days.entries()) {
      for (const model of ["a", "b"]) {
        const row = openRow({ startedAt: `${day}T23:59:59.999Z`, model });
        await recorder.settle(settledRow(row, { costUsd: n === 1 ? null : `0.${n}00000000000000001` }));
      }
    }
    await recorder.close(10_000);
    const seen = new Set<string>();
    const move = (again = false) =>
      moveRecords(
        { sql, client, clock: systemClock, log, place: clickhouse },
        {
          again,
          onProgress: ({ table, day, rows, done, of }) =>
            seen.add(`${table} ${day}: ${rows} rows, ${done} of ${of} days`),
        },
      );
    expect(await move()).toBe(6);
    // Shown after the rows, and after the comparison.
    expect([...seen]).toEqual(
      days.flatMap((day, n) => [n, n + 1].map((done) => `requests ${day}: 2 rows, ${done} of 3 days`)),
    );
    expect(
      await all(
        client,
        "select count() as rows, uniqExact(id) as ids, sum(cost_usd) as cost from requests final",
      ),
    ).toEqual([{ rows: "6", ids: "6", cost: "0.400000000000000004" }]);
    expect(await move()).toBe(0);
    // Interrupted: the second day is not noted as moved.
    await sql`update clickhouse_moves set moved_to = '2026-01-31T00:00:00Z'`;
    expect(await move()).toBe(4);
    await sql`update requests set cost_usd = 7`;
    expect(await move(true)).toBe(6);
    expect(await all(client, "select sum(cost_usd) as cost from requests final")).toEqual([{ cost: "42" }]);
    expect(await differences({ sql, client }, "requests", { from: new Date(0), to: new Date() })).toEqual([]);
    await client.command({
      query: "alter table requests delete where model = 'a' settings mutations_sync = 2",
    });
    expect(await differences({ sql, client }, "requests", { from: new Date(0), to: new Date() })).toEqual([
      expect.stringMatching(/^model a: Postgres has 3 rows, cost_usd 21, .*; ClickHouse has 0 rows$/),
    ]);
  });

  test("copying waits for writers of its database, and not for other databases of the server", async () => {
    const { databaseUrl, sql, client, log, clickhouse } = await stores();
    const place = { sql, client, clock: systemClock, log, place: clickhouse };
    const elsewhere = await openWrite((await testDatabase()).url);
    const here = await openWrite(databaseUrl);
    const moved = moveRecords(place, { again: false, onProgress: () => {} });
    await until(async () => (await sql`select 1 from clickhouse_state`).length > 0);
    await here.end();
    expect(await moved).toBe(1);
    await elsewhere.end();
  });

  test("whatever ClickHouse lost, a report has all records, and a move brings them there again", async () => {
    const { databaseUrl, sql, client, log, clickhouse, copying } = await stores();
    const recorder = await testRecorder({ databaseUrl });
    for (const costUsd of ["2", "23"]) {
      await recorder.settle(
        settledRow(openRow({ startedAt: "2026-03-01T10:00:00.000Z", session: "s" }), { costUsd }),
      );
    }
    await recorder.close(10_000);
    // Dropped tables are made again, without the rows.
    await sql`insert into requests select x.* from requests r, generate_series(1, 5001) n, lateral
      jsonb_populate_record(null::requests, to_jsonb(r) || jsonb_build_object('id', gen_random_uuid(), 'cost_usd', n * 0)) x`;
    const move = () =>
      moveRecords(
        { sql, client, clock: systemClock, log, place: clickhouse },
        { again: false, onProgress: () => {} },
      );
    const spend = async () => {
      const url = databaseUrl;
      const runner = reportRunner({ url, clickhouseUrl: clickhouse.url });
      const { total } = await runner.run(SPEND, new Date("2026-03-02T00:00:00Z"));
      await runner.close();
      return total.current?.cost_usd ?? null;
    };
    const isCopy = async () =>
      (await sql`select 1 from clickhouse_state where compared_at is not null`).length === 1;
    const inClickHouse = () => all(client, "select sum(cost_usd) as cost from requests final");
    expect(await move()).toBe(10_004);
    expect(await spend()).toBe(25);
    const losses = [
      `drop database \`${new URL(clickhouse.url).pathname.slice(1)}\` sync`,
      "drop table requests sync",
    ];
    for (const query of casesOf(losses)) {
      // Sums that stay behind count no more.
      const old = { org_id: "default", level: "hour", at: "2026-02-20 10:00:00", gen: 1 };
      await client.insert({ table: "summed", values: [{ ...old, ready: true }], format: "JSONEachRow" });
      const sums = { ...old, kind: "total", billed: true, records: 1, cost_usd: "99" };
      await client.insert({ table: "sums", values: [sums], format: "JSONEachRow" });
      expect(await spend()).toBe(124);
      await client.command({ query: "rename table requests to lost" });
      expect(await spend()).toBe(25);
      await client.command({ query: "rename table lost to requests" });
      await client.command({ query });
      expect(await spend()).toBe(25);
      const { stop } = copying();
      await until(async () => (await sql`select 1 from clickhouse_moves`).length < 3 && !(await isCopy()));
      expect(await spend()).toBe(25);
      await stop();
      expect(await move()).toBe(10_004);
      expect(await inClickHouse()).toEqual([{ cost: "25" }]);
      expect([await isCopy(), await spend()]).toEqual([true, 25]);
    }
    // The same database, with rows that Postgres never had, and without some that it has.
    await client.command({ query: "truncate table requests" });
    const row = {
      org_id: "default",
      id: newId(),
      started_at: "2026-03-01T10:00:00Z",
      cost_usd: "9",
      version: 1,
    };
    await client.insert({ table: "requests", values: [row], format: "JSONEachRow" });
    expect(await move()).toBe(10_004);
    expect(await inClickHouse()).toEqual([{ cost: "25" }]);
    // Rows that Postgres deletes are deleted there.
    const { stop } = copying();
    await sql`delete from requests where cost_usd = 23`;
    const cost = () => all(client, "select sum(cost_usd) as cost from requests final");
    await until(async () => Bun.deepEquals(await cost(), [{ cost: "2" }]));
    await stop();
  });

  test("sums follow every change of their calls, and answer when these are dropped", async () => {
    const { databaseUrl, sql, client, clickhouse, copying, copied, log } = await stores();
    const recorder = await testRecorder({ databaseUrl });
    const settle = async (startedAt: string, over: Partial<RequestRow>, costUsd: string | null) => {
      await recorder.settle(
        settledRow(openRow({ startedAt, ...over }), { costUsd, unpriced: costUsd === null }),
      );
      await recorder.flushed(60_000, true);
    };
    for (const [n, day] of ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"].entries()) {
      for (const [hour, model] of ["a", "b", "a"].entries()) {
        const channel = hour === 2 ? ("subscription" as const) : ("api" as const);
        const over = {
          model,
          channel,
          session: `s${hour % 2}`,
          owner: `p${n % 2}`,
          tags: n > 1 ? ["x", "y"] : [],
        };
        await settle(`${day}T0${hour}:30:00.000Z`, over, n === 1 && hour === 1 ? null : `0.${n}${hour + 1}`);
      }
    }
    // So that no hour waits for more changes.
    const later = { ...systemClock, now: () => new Date(Date.now() + 600_000) };
    let { stop } = copying(later);
    const summed = () =>
      all(
        client,
        `select 1 from summed final where level = 'day' and ready
          and (at, gen) in (select at, gen from cells)`,
      );
    const untilSummed = async (days: number) => {
      await copied();
      await until(
        async () =>
          (await summed()).length === days &&
          (await sql`select 1 from clickhouse_state where compared_at is not null`).length > 0,
      );
    };
    const reader = (clickhouseUrl: string | null) => reportRunner({ url: databaseUrl, clickhouseUrl });
    const readers = [reader(null), reader(clickhouse.url)] as const;
    atEnd(async () => void (await Promise.all(readers.map((it) => it.close()))));
    const ask = async (over: Partial<Spec>) => {
      const spec = { ...SPEND, measures: [...MEASURES], compare: "previous_period" as const, ...over };
      const asked = readers.map((reader) => reader.run(spec, new Date("2026-02-02T01:15:00Z")));
      const [ours, theirs] = await Promise.all(asked);
      expect(theirs).toEqual(ours);
      return theirs?.total.current;
    };
    const count = async (over: Partial<Spec>) => {
      const { total } = await readers[1].run(
        { ...SPEND, measures: ["requests"], ...over },
        new Date("2026-02-02T00:00:00Z"),
      );
      return total.current?.requests;
    };
    const ASKED: Partial<Spec>[] = [
      { range: { from: "2026-01-31T00:30:00Z", to: "2026-02-01T02:00:00Z" } },
      { dimensions: ["day", "tag"] },
      { dimensions: ["model"], range: { from: "2026-01-31", to: "2026-02-02" } },
      {
        dimensions: ["client"],
        filters: { channel: ["subscription"] },
        measures: ["requests", "total_tokens", "cost_usd", "users"],
      },
      { range: "7d" },
      { dimensions: ["week"], filters: { model: ["a"] } },
      { dimensions: ["key"], filters: { channel: ["api"] } },
      { dimensions: ["model", "client"] },
      { dimensions: ["day", "subject", "model"], measures: OF_CELLS },
      { dimensions: ["tag", "client"], filters: { session: ["s0"] }, measures: OF_CELLS },
      { dimensions: ["key"], filters: { subject: ["p1"], model: ["a", "b"] }, measures: OF_CELLS },
    ];
    let turn = 0;
    /** One of them at each stage, or all of them in a fault run. */
    const alike = async (measures: Spec["measures"] = [...MEASURES]) => {
      const from = turn++ % ASKED.length;
      for (const over of casesOf([...ASKED.slice(from), ...ASKED.slice(0, from)]))
        await ask({ measures, ...over });
    };
    await untilSummed(4);
    await alike();
    const before = await ask({});
    // A late call counts at once, and so does a new cost.
    await settle("2026-01-30T00:45:00.000Z", { model: "b", session: "s9", owner: "p9" }, "5");
    await sql`update requests set cost_usd = 1 where cost_usd = 0.01`;
    await copied();
    await alike();
    expect(await ask({})).toMatchObject({
      requests: (before?.requests ?? 0) + 1,
      users: (before?.users ?? 0) + 1,
    });
    await untilSummed(4);
    await alike();
    // Cells answer, and calls do where an earlier release made sums without cells, until these are made.
    const twoWords = { dimensions: ["model", "key"], measures: ["requests"] } satisfies Partial<Spec>;
    const asked = await ask(twoWords);
    await client.command({
      query: "alter table cells update records = 100 where true settings mutations_sync = 2",
    });
    expect(await count(twoWords)).toBeGreaterThan(300);
    await client.command({ query: "truncate table cells" });
    await alike();
    await stop();
    // A dropped table is made again.
    expect(await isKnown(sql, client)).toBe(true);
    await client.command({ query: "drop table cells sync" });
    expect(await isKnown(sql, client)).toBe(false);
    ({ stop } = copying(later));
    await until(() => isKnown(sql, client));
    await untilSummed(4);
    await alike();
    expect(await ask(twoWords)).toEqual(asked ?? {});

    const rollups = openRollups({ url: databaseUrl });
    await rollups.catchUp(later.now());
    await rollups.close();
    expect(await dropOldMonths(databaseUrl, new Date("2026-02-01T00:00:00Z"))).toHaveLength(1);
    await expireCopies(client, { dropped: new Date("2026-02-01T00:00:00Z"), cluster: null });
    expect(await all(client, "select count() as n from requests final")).toEqual([{ n: "6" }]);
    // Postgres knows percentiles of dropped calls within a bound.
    await alike(MEASURES.filter((name) => name !== "latency_p95_ms"));
    // Answers of sums, and of Postgres: what no sums tell of dropped calls.
    await client.command({
      query: "alter table sums update records = 100 where level = 'day' settings mutations_sync = 2",
    });
    expect(await count({})).toBe(600);
    expect(await count({ dimensions: ["model", "client"] })).toBe(10);
    // A late call of a dropped month: its hour is read from Postgres.
    await settle("2026-01-31T01:45:00.000Z", { model: "b" }, "3");
    await copied();
    expect(await count({})).toBe(11);
    await recorder.close(10_000);
    await stop();
    // A database that is filled after that lacks the month, which Postgres answers.
    const url = await server.database();
    const young = openClickHouse(url, { name: "test", timeoutMs: 30_000, connectionsMax: 2 });
    const place = { url, cluster: null };
    await moveRecords(
      { sql, client: young, clock: systemClock, log, place },
      { again: false, onProgress: () => {} },
    );
    await young.close();
    const newest = reader(url);
    const whole: Spec = {
      ...SPEND,
      measures: ["requests", "cost_usd", "users"],
      range: { from: null, to: null },
    };
    const [ours, theirs] = await Promise.all(
      [readers[0], newest].map((it) => it.run(whole, new Date("2026-02-03T00:00:00Z"))),
    );
    await newest.close();
    expect(theirs).toEqual(ours);
    expect(theirs?.total.current?.requests).toBe(14);
  });

  longTest("stores/clickhouse-records (sums follow every change), reports/both-engines")(
    "sums of tools' calls follow sightings that move, decide or delete one",
    async () => {
      const { databaseUrl, sql, client, clickhouse, copying, copied } = await stores();
      const note = (n: number, at: string, status: string) => sql`
      insert into tool_calls (origin, external_id, id, started_at, channel, status, rank, decided_at, key_id, owner, client, session, tags,
        server, tool, latency_ms, cost_usd)
      values ('o', ${`call-${n}`}, ${newId()}, ${at}, 'hook', ${status}, 1, ${at}, ${newId()}, ${`p${n % 2}`}, 'cli', 's', '{}',
        ${n % 2 ? "files" : null}, 'read', ${100 * n}, ${n})
      on conflict (org_id, origin, external_id) do update set started_at = excluded.started_at, status = excluded.status`;
      for (const n of [1, 2, 3, 4]) await note(n, `2026-02-01T0${n}:30:00Z`, "pending");
      const later = { ...systemClock, now: () => new Date(Date.now() + 600_000) };
      const { stop } = copying(later);
      const untilSummed = async () => {
        await copied();
        const open = "select 1 from summed final where not ready and level like 'tool%'";
        await until(async () => (await all(client, open)).length === 0);
        await until(
          async () => (await sql`select 1 from clickhouse_state where compared_at is not null`).length > 0,
        );
      };
      const calls = async (over: Partial<Spec> = {}) => {
        const spec: Spec = {
          ...{
            ...SPEND,
            source: "tool_calls",
            dimensions: ["server", "tool"],
            range: { from: "2026-02-01", to: "2026-02-02" },
          },
          ...{
            measures: ["calls", "ok", "pending", "cost_per_ok_call", "users", "sessions", "latency_p50_ms"],
            ...over,
          },
        };
        const asked = [null, clickhouse.url].map(async (clickhouseUrl) => {
          const runner = reportRunner({ url: databaseUrl, clickhouseUrl });
          const result = await runner.run(spec, new Date("2026-02-03T00:00:00Z"));
          await runner.close();
          return result;
        });
        const [ours, theirs] = await Promise.all(asked);
        expect(theirs).toEqual(ours);
        return theirs?.total.current;
      };
      await untilSummed();
      expect(await calls()).toMatchObject({ calls: 4, ok: 0, pending: 4, users: 2 });
      await note(1, "2026-02-01T01:10:00Z", "ok");
      await note(2, "2026-01-31T23:50:00Z", "ok");
      await note(3, "2026-02-01T05:10:00Z", "failed");
      await sql`delete from tool_calls where external_id = 'call-4'`;
      await copied();
      expect(await calls()).toMatchObject({ calls: 2, ok: 1, pending: 0, users: 1 });
      await untilSummed();
      expect(await calls()).toMatchObject({ calls: 2, ok: 1, pending: 0, users: 1 });
      expect(
        await calls({ dimensions: ["day"], filters: { tool: ["read"], server: ["files", "(none)"] } }),
      ).toMatchObject({ calls: 2 });
      await stop();
      // An earlier release has no sums of tools' calls, and these in another order; it copies and deletes some beside a release that does.
      for (const table of ["sums", "summed"]) await client.command({ query: `truncate table ${table}` });
      await client.command({ query: "rename table tool_calls to calls_by_hour" });
      const [made = ""] = createTable("tool_calls", null);
      for (const query of [
        made.replace(/partition by.*/s, "order by (org_id, origin, external_id)"),
        "insert into tool_calls select * from calls_by_hour",
      ])
        await client.command({ query });
      expect(await calls()).toMatchObject({ calls: 2 });
      const checked = async (expected: object) => {
        const { stop } = copying(later);
        const published = `select toString(at) as at, sum(records) as n from sums where kind = 'tools' and level = 'tool hour'
        and (at, gen) in (select at, gen from summed final where level = 'tool hour' and ready) group by at order by at`;
        await until(async () => Bun.deepEquals(await all(client, published), expected));
        await untilSummed();
        await stop();
      };
      const others = ["2026-01-31 23:00:00", "2026-02-01 01:00:00"].map((at) => ({ at, n: "1" }));
      await checked([...others, { at: "2026-02-01 05:00:00", n: "1" }]);
      expect(await calls()).toMatchObject({ calls: 2, ok: 1 });
      // Of an hour, reports read only its calls.
      const hour = `select 1 from tool_calls where started_at >= '2026-02-01 05:00:00' and started_at < '2026-02-01 06:00:00'`;
      expect(JSON.stringify(await all(client, `explain indexes = 1 ${hour}`))).toContain(
        "toStartOfHour(started_at, 'UTC') in [",
      );
      const copiedUnseen = async (query: string) => {
        await sql`delete from clickhouse_marks`;
        await client.command({ query });
      };
      const copyOf = (replaced: string) => `insert into tool_calls
      select * replace (${replaced}, toUInt64(toUnixTimestamp64Micro(now64(6))) as version) from tool_calls final where external_id = 'call-3'`;
      await note(3, "2026-02-01T07:10:00Z", "ok");
      await copiedUnseen(
        copyOf("'ok' as status, toDateTime64('2026-02-01 07:10:00', 3, 'UTC') as started_at"),
      );
      await client.command({
        query: "delete from tool_calls where external_id = 'call-3' and started_at < '2026-02-01 07:00:00'",
      });
      await checked([...others, { at: "2026-02-01 07:00:00", n: "1" }]);
      expect(await calls()).toMatchObject({ calls: 2, ok: 2 });
      await note(3, "2026-02-01T07:10:00Z", "failed");
      await copiedUnseen(copyOf("'failed' as status"));
      // No other hour is summed up again.
      const gens = () =>
        all(
          client,
          "select gen from summed final where level = 'tool hour' and at < '2026-02-01 05:00:00' order by at",
        );
      const before = await gens();
      const { stop: stopLast } = copying(later);
      await until(async () => (await calls().catch(() => null))?.ok === 1);
      await untilSummed();
      await stopLast();
      expect(await gens()).toEqual(before);
      // Answers of sums.
      await client.command({
        query: "alter table sums update records = 100 where level = 'tool day' settings mutations_sync = 2",
      });
      const runner = reportRunner({ url: databaseUrl, clickhouseUrl: clickhouse.url });
      const spec: Spec = {
        ...SPEND,
        source: "tool_calls",
        measures: ["calls"],
        range: { from: "2026-02-01", to: "2026-02-02" },
      };
      expect((await runner.run(spec, new Date("2026-02-03T00:00:00Z"))).total.current).toEqual({
        calls: 200,
      });
      await runner.close();
    },
  );

  test("each column of each table is copied, and what changes is copied again", async () => {
    const { sql, client, copying, copied } = await stores();
    copying();
    await until(async () => (await sql`select 1 from clickhouse_state where version > 0`).length > 0);
    for (const name of COPIED_TABLES) {
      const row = Object.fromEntries(
        getTableConfig(COPIED[name].of).columns.map((it) => [it.name, sampleOf(it).ours]),
      );
      await sql.unsafe(
        `insert into ${name} select * from jsonb_populate_record(null::${name}, $1::text::jsonb)`,
        [JSON.stringify(row)],
      );
    }
    await copied();
    for (const name of COPIED_TABLES) {
      const expected = Object.fromEntries(copiedColumns(name).map((it) => [it.name, sampleOf(it).copied]));
      expect(await all(client, `select * except (version) from ${name} final`)).toEqual([expected]);
    }
    for (const [name, column] of Object.entries(CHANGING)) {
      await sql.unsafe(`update ${name} set ${column} = 'changed'`);
    }
    await copied();
    for (const [name, column] of Object.entries(CHANGING)) {
      expect(await all(client, `select ${column} as it from ${name} final`)).toEqual([{ it: "changed" }]);
    }
  });

  longTest("stores/clickhouse-records (whatever ClickHouse lost: ten thousand rows)")(
    "a statement may write many rows",
    async () => {
      const { sql, client, copying, copied } = await stores();
      copying();
      await until(async () => (await sql`select 1 from clickhouse_state where version > 0`).length > 0);
      await sql`insert into repositories (id, full_name, former_names, changed_at)
      select n, 'a/' || n, '[]', now() from generate_series(1, 12001) n`;
      await copied();
      await sql`update repositories set full_name = 'changed'`;
      await copied();
      const query = "select count() as n, countIf(full_name = 'changed') as changed from repositories final";
      expect(await all(client, query)).toEqual([{ n: "12001", changed: "12001" }]);
    },
  );

  test("a row that ClickHouse refuses holds up no other", async () => {
    const { databaseUrl, sql, client, log, copying, copied } = await stores();
    copying();
    await until(async () => (await sql`select 1 from clickhouse_state where version > 0`).length > 0);
    const recorder = await testRecorder({ databaseUrl });
    const rows = [..."abc"].map((model) => openRow({ model }));
    const [, refused] = rows;
    for (const row of rows)
      await recorder.settle(settledRow(row, row === refused ? { costUsd: `1${"0".repeat(80)}` } : {}));
    await recorder.close(10_000);
    await copied();
    expect(await all(client, "select model from requests final order by model")).toEqual([
      { model: "a" },
      { model: "c" },
    ]);
    expect(await sql`select id::text, code from dead_records`).toMatchObject([
      { id: refused?.id, code: expect.stringMatching(/^clickhouse \d+$/) },
    ]);
    expect(log.lines.filter(({ message }) => message.startsWith("ClickHouse refused a row"))).toHaveLength(1);
  });

  test("old rows go when they do in Postgres, by whole months", async () => {
    const { sql, client } = await stores();
    for (const query of createTables()) await client.command({ query });
    for (const day of ["2026-01-31", "2026-02-01", "2026-02-20"]) {
      const common = {
        org_id: "default",
        id: newId(),
        external_id: day,
        session: "s",
        started_at: `${day}T00:00:00.000Z`,
        version: 1,
      };
      for (const table of ["requests", "tool_calls"]) {
        await client.insert({ table, values: [common], format: "JSONEachRow" });
      }
      const cell = { org_id: "default", at: day, gen: 1, session: "s" };
      await client.insert({ table: "cells", values: [cell], format: "JSONEachRow" });
    }
    await expireCopies(client, {
      dropped: new Date("2026-02-01T00:00:00Z"),
      cluster: null,
    });
    const days = (table: string, at = "started_at") =>
      all(client, `select toString(toDate(${at})) as day from ${table} order by day`);
    for (const table of ["requests", "tool_calls"]) {
      expect(await days(table)).toEqual([{ day: "2026-02-01" }, { day: "2026-02-20" }]);
    }
    expect(await days("cells", "at")).toEqual([{ day: "2026-02-01" }, { day: "2026-02-20" }]);
    expect(await sql`select 1 from clickhouse_marks`).toHaveLength(0);
  });

  longTest("stores/clickhouse-records (old rows go, several processes copy in turn)")(
    "rows are counted, and old ones expire, while records keep coming",
    async () => {
      const { databaseUrl, sql, client, copying, copied } = await stores();
      for (const query of createTables()) await client.command({ query });
      // An hour passes in less than a second.
      const fast = { ...systemClock, monotonicMs: () => performance.now() * 5_000 };
      let counts = 0;
      copying(fast, () => {
        counts += 1;
      });
      await until(() => counts > 0);

      let isOver = false;
      const writing = ["a", "b", "c", "d"].map(async (name) => {
        const own = testSql(databaseUrl);
        const id = newId();
        await own`insert into keys ${own({ org_id: "default", id, name, scopes: own.json({}), created_at: new Date() })}`;
        while (!isOver) await own`update keys set name = name where id = ${id}`;
      });
      await until(async () => (await sql`select 1 from clickhouse_marks limit 1`).length === 1);
      const old = { org_id: "default", id: newId(), started_at: "2020-01-31T00:00:00.000Z", version: 1 };
      await client.insert({ table: "tool_calls", values: [old], format: "JSONEachRow" });
      await sql`insert into rollup_state (rolled_to, raw_from) values ('2020-02-01', '2020-02-01')`;
      counts = 0;
      await until(() => counts > 1);
      await until(async () => (await all(client, "select 1 from tool_calls limit 1")).length === 0);
      isOver = true;
      await Promise.all(writing);
      await copied();
    },
  );

  test("several processes copy in turn, and nothing is noted before or after", async () => {
    const { databaseUrl, sql, client, copying, copied } = await stores();
    const recorder = await testRecorder({ databaseUrl });
    const settle = async (model: string) => {
      await recorder.settle(settledRow(openRow({ model })));
      await recorder.flushed(60_000, true);
    };
    await settle("before");
    expect(await sql`select 1 from clickhouse_marks`).toHaveLength(0);
    // A small table is copied whole when copying begins.
    const running = [copying(), copying(), copying()];
    await copied();
    for (let n = 0; n < 5; n++) await settle(`during ${n}`);
    await copied();
    expect(await all(client, "select count() as n from requests final")).toEqual([{ n: "6" }]);
    for (const { stop } of running) await stop();
    await endMarking(sql);
    await settle("after");
    expect(await sql`select 1 from clickhouse_marks`).toHaveLength(0);
    await recorder.close(5000);
  });
});

const MEASURES = [
  "requests",
  "cost_usd",
  "total_tokens",
  "unpriced_requests",
  "users",
  "sessions",
  "active_hours",
  "latency_p95_ms",
  "cost_per_user",
  "cost_per_active_hour",
  "cost_decomposition",
] as const satisfies Spec["measures"];

const OF_CELLS = MEASURES.filter((name) => !/active_hour/.test(name));

const SPEND: Spec = {
  source: "requests",
  dimensions: [],
  measures: ["cost_usd"],
  filters: {},
  range: "30d",
  compare: "none",
  view: "table",
};

/** A column of each table that is not part of its key. */
const CHANGING = {
  requests: "model",
  tool_calls: "tool",
  agent_points: "model",
  pull_requests: "author_login",
  reviews: "reviewer_login",
  repositories: "full_name",
  keys: "name",
} as const satisfies Record<CopiedTable, string>;

const INSTANT = "2026-03-01T10:00:00.123Z";
const ID = "0199d0a0-0000-7000-8000-000000000001";

/** A value of a type of Postgres as JSON gives it, and as ClickHouse gives its copy. */
const SAMPLES: Record<string, { ours: unknown; copied: unknown }> = {
  'text[] COLLATE "C"': { ours: ["a,b", 'c"d', "é"], copied: ["a,b", 'c"d', "é"] },
  "timestamptz(3)": { ours: INSTANT, copied: "2026-03-01 10:00:00.123" },
  numeric: {
    ours: "12345678901234567890.000000000000000001",
    copied: "12345678901234567890.000000000000000001",
  },
  uuid: { ours: ID, copied: ID },
  boolean: { ours: true, copied: true },
  smallint: { ours: 7, copied: 7 },
  integer: { ours: 2_147_483_647, copied: 2_147_483_647 },
  bigint: { ours: 9_007_199_254_740_991, copied: "9007199254740991" },
  jsonb: { ours: [{ a: [1] }], copied: '[{"a": [1]}]' },
  bytea: { ours: "\\x00ff", copied: "00ff" },
};

const sampleOf = (column: PgColumn) => {
  const text = column.name === "org_id" ? "default" : 'a\t"é\n';
  return SAMPLES[column.getSQLType()] ?? { ours: text, copied: text };
};

test("the tables of a cluster are replicated, spread by session, and read through one", () => {
  const [first = "", second = ""] = createTables("main");
  expect(first.split("\n")[0]).toBe("create table if not exists requests_stored on cluster `main` (");
  expect(
    first,
  ).toEndWith(`) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/requests/{shard}', '{replica}', version)
partition by toYYYYMM(started_at)
order by (org_id, started_at, id)`);
  expect(second).toBe(`create table if not exists requests on cluster \`main\` as requests_stored
engine = Distributed(\`main\`, currentDatabase(), requests_stored, cityHash64(ifNull(session, toString(key_id))))`);
  const others = createTables("main").join("\n");
  // A small table is whole on every server.
  expect(others).toContain(
    "ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/keys', '{shard}-{replica}', version)",
  );
  // Sums and cells are rows of their generation, of which none replaces another.
  expect(others).toContain("ReplicatedMergeTree('/clickhouse/tables/{database}/cells', '{shard}-{replica}')");
  expect(createTables("main").filter((query) => !query.includes(" on cluster `main`"))).toEqual([]);
});
