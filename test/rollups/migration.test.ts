import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "#drizzle/migrate.ts";
import type { Spec } from "#shared/report.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { type Ledger, ledger } from "./ledger.ts";

/** An empty database as the version left it whose last migration has that number. */
async function olderDatabase(last: number): Promise<TestDatabase> {
  const server = await testDatabase();
  const name = `t_${crypto.randomUUID().replaceAll("-", "")}`;
  const admin = connect(server.url, { name: "test", max: 1, statementTimeoutMs: 0 });
  await admin.unsafe(`create database ${name} encoding 'UTF8' template template0`);
  const url = server.url.replace(/\/t_[0-9a-f]+/, `/${name}`);
  const directory = mkdtempSync(join(tmpdir(), "tallygate-migrations-"));
  cpSync(MIGRATIONS_DIRECTORY, directory, { recursive: true });
  const journal = join(directory, "meta", "_journal.json");
  const { entries, ...rest } = await Bun.file(journal).json();
  await Bun.write(journal, JSON.stringify({ ...rest, entries: entries.slice(0, last + 1) }));
  await migrate(url, directory);
  rmSync(directory, { recursive: true });
  return {
    url,
    close: async () => {
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
      await server.close();
    },
  };
}

test("a gateway that updates the tables and the reports of another never wait for each other", async () => {
  const older = await olderDatabase(16);
  const sql = connect(older.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  /** As a report reads: how far rollups reach, and then cells. */
  const report = (pauseMs: number, seconds: number): Promise<unknown> =>
    sql.begin("isolation level repeatable read read only", async (own: postgres.TransactionSql) => {
      await own`select from rollup_state`;
      await Bun.sleep(pauseMs);
      await own`select pg_sleep(${seconds}) from (select count(*) from rollup_cells) c`;
    });
  const first = report(0, 2);
  await Bun.sleep(50);
  const second = report(300, 0);
  await Bun.sleep(50);
  const all = await Promise.allSettled([first, second, migrate(older.url)]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  await sql.end();
  await older.close();
});

const NOW = new Date("2026-11-21T12:34:56Z");

/** Gives an older database what this version writes and that one has no place for. */
async function withPlace({ sql }: Ledger): Promise<void> {
  await sql`alter table rollup_sessions add column several boolean`;
  await sql`alter table rollup_seen rename to seen_by_day`;
  await sql`alter table seen_by_day rename constraint rollup_seen_org_id_who_day_pk to by_day_pk`;
  await sql`
    create table rollup_seen (org_id text collate "C", who uuid, month date, days int, billed_days int, hours bytea,
      billed_hours bytea, primary key (org_id, who, month))`;
}

/**
 * The tables of sums, in the form before each histogram was one number, rows told which sessions count with them, and
 * persons stood with a month.
 */
async function asBefore({ sql }: Ledger, tables: readonly string[], hours: string): Promise<void> {
  await sql`alter table rollup_sessions drop column several`;
  await sql`
    insert into seen_by_day (org_id, who, day, hour, billed_hour)
    select org_id, who, month + place, get_byte(hours, place), nullif(get_byte(billed_hours, place), 255)
    from rollup_seen cross join generate_series(0, 30) place where days & (1 << place) <> 0`;
  await sql`drop table rollup_seen`;
  await sql`alter table seen_by_day rename to rollup_seen`;
  await sql`alter table rollup_seen rename constraint by_day_pk to rollup_seen_org_id_who_day_pk`;
  const buckets = Array.from({ length: 76 }, (_, i) => i);
  for (const table of tables) {
    await sql.unsafe(`alter table ${table} drop constraint ${table}_packed`);
    if (table === "rollup_cells") {
      await sql.unsafe(`alter table ${table} drop constraint ${table}_counted`);
      await sql.unsafe(`update ${table} set of_model = null, of_route = null where ${hours}`);
    }
    await sql.unsafe(
      `update ${table} set latencies = null, ${buckets
        .map((i) => `h${i} = nullif(nullif(substr(latencies::text, ${3 + 12 * i}, 12), '')::bigint, 0)::int`)
        .join(", ")} where ${hours}`,
    );
  }
}

test.each([
  ["all", "true"],
  ["some", "first_at < '2026-11-10T00:00:00Z'"],
])(
  "sums of an earlier version are the same after an update, where %s of them were in its form",
  async (_, which) => {
    const it = await ledger(await olderDatabase(19));
    await withPlace(it);
    const days = Array.from({ length: 20 }, (_, day) =>
      new Date(Date.UTC(2026, 9, 25 + day, day, 7 * (day % 8))).toISOString(),
    );
    const call = (startedAt: string, over: object) =>
      settledRow(openRow({ startedAt, owner: "ann", session: `s-${startedAt.slice(0, 10)}` }), over);
    await it.write(
      days.flatMap((day, i) => [
        call(day, { latencyMs: 3 * i, model: `m${i % 2}` }),
        call(day, { latencyMs: 4, model: `m${i % 2}`, route: "other" }),
        call(day, { latencyMs: 40_000 * i, owner: "bob", channel: i % 3 ? "subscription" : "api" }),
        call(day, { latencyMs: null, owner: i % 2 ? "cy" : "bob", session: null }),
        call(day, { latencyMs: 5, session: `of-one-row-${i}` }),
        call(day, { latencyMs: 6, session: `of-two-days-${i >> 1}` }),
      ]),
    );
    const tables = ["hours", "cells", "sessions", "quarters", "hourly", "days", "weeks"].map(
      (name) => `rollup_${name}`,
    );
    const notSums = [...Array.from({ length: 76 }, (_, i) => `h${i}`), "of_model", "of_route"];
    const stored = async () => [
      ...(await Promise.all(
        tables.map((table) =>
          it.sql.unsafe(`select (to_jsonb(t) - $1::text[])::text as row from ${table} t order by 1`, [
            notSums,
          ]),
        ),
      )),
      await it.sql`select to_jsonb(t)::text as row from rollup_seen t order by 1`,
      // Which of several cells that are alike counts is left open.
      ...(await Promise.all(
        ["model", "route"].map((fine) =>
          it.sql.unsafe(`select day, session, ${fine} as fine, array_agg(of_${fine} order by of_${fine})
          from rollup_cells group by day, session, ${fine} order by day, session, fine`),
        ),
      )),
    ];
    await it.rollups.catchUp(NOW);
    const made = await stored();
    await asBefore(it, tables, which);
    expect(await stored()).not.toEqual(made);
    await migrate(it.database.url);
    expect(await stored()).toEqual(made);
    const spec: Spec = {
      source: "requests",
      dimensions: ["model", "key"],
      measures: ["requests", "sessions", "active_hours"],
      filters: {},
      range: { from: null, to: null },
      compare: "none",
      view: "table",
    };
    const [rolled, single] = await Promise.all([it.rolled.run(spec, NOW), it.single.run(spec, NOW)]);
    const counted = ({ rows }: typeof rolled) =>
      rows.map(({ groups, current }) => [
        groups,
        current?.sessions,
        current?.active_hours,
        current?.requests,
      ]);
    expect(counted(rolled)).toEqual(counted(single));
    await it.close();
  },
  20_000,
);
