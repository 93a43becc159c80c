import { expect, test } from "bun:test";
import type { ClickHouseClient } from "@clickhouse/client";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { prepare } from "#gateway/stores/clickhouse/identity.ts";
import { createTables } from "#gateway/stores/clickhouse/schema.ts";
import { atEnd } from "#test/support/at-end.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "#test/support/clickhouse.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";

const SETTINGS = { name: "test", timeoutMs: 30_000, connectionsMax: 2 };

test.skipIf(!HAS_CLICKHOUSE)(
  "tables keep every digit of money, and of two versions the higher counts",
  async () => {
    const server = await startClickHouse();
    const client = openClickHouse(await server.database(), SETTINGS);
    atEnd(() => client.close());
    // A second start finds them.
    for (const query of [...createTables(), ...createTables()]) await client.command({ query });

    const id = "0199d0a0-0000-7000-8000-000000000001";
    const known = {
      org_id: "o",
      id,
      started_at: "2026-11-26T10:00:00.123Z",
      session: "s-1",
      parent_session: "p",
    };
    const rows = [
      { ...known, cost_usd: "999999999999.000000000000000000000000000001", teams: ["a", "b"], version: 1 },
      { ...known, cost_usd: "0.1", teams: null, version: 3 },
      { ...known, cost_usd: null, version: 2 },
    ];
    for (const row of rows) await client.insert({ table: "requests", values: [row], format: "JSONEachRow" });
    const all = async (query: string) => await (await client.query({ query, format: "JSONEachRow" })).json();
    const costs = "select cost_usd, teams from requests";
    expect(await all(`${costs} order by version`)).toEqual([
      { cost_usd: "999999999999.000000000000000000000000000001", teams: ["a", "b"] },
      { cost_usd: null, teams: [] },
      { cost_usd: "0.1", teams: [] },
    ]);
    expect(await all(`${costs} final`)).toEqual([{ cost_usd: "0.1", teams: [] }]);

    // What was inserted is there after a crash.
    await server.kill();
    await expect(all(costs)).rejects.toThrow("ECONNREFUSED");
    await server.start();
    expect(await all(`${costs} final`)).toHaveLength(1);
  },
);

test.skipIf(!HAS_CLICKHOUSE)("errors name neither the password nor the address", async () => {
  const server = await startClickHouse();
  const url = new URL(server.url);
  url.password = "another secret";
  const client = openClickHouse(url.href, SETTINGS);
  atEnd(() => client.close());
  const error = await client.query({ query: "select 1" }).catch((refused: unknown) => refused);
  expect(error).toMatchObject({ type: "AUTHENTICATION_FAILED" });
  expect(Bun.inspect(error)).not.toContain("secret");
  expect(() => openClickHouse("//user:secret@", SETTINGS)).toThrow(
    new TypeError("The address of ClickHouse is not a URL."),
  );
});

test.skipIf(!HAS_CLICKHOUSE)("a cluster's calls of tools in a former order are copied again", async () => {
  const server = await startClickHouse();
  const url = await server.database();
  const one = openClickHouse(url, SETTINGS);
  atEnd(() => one.close());
  // The engine is one server without Keeper: what a cluster spreads or replicates is one table there.
  const statements: string[] = [];
  const command: ClickHouseClient["command"] = ({ query, ...rest }) => {
    statements.push(query);
    const alone = query
      .replaceAll(" on cluster `main`", "")
      .replace(
        /Replicated(\w+)\([^()]*'(, version|, gen)?\)/,
        (_, engine, by = "") => `${engine}(${by.slice(2)})`,
      )
      .replace(
        /Distributed\([^,]*, currentDatabase\(\), (\w+),.*/s,
        (_, stored) => `Merge(currentDatabase(), '^${stored}$')`,
      );
    return one.command({ query: alone, ...rest });
  };
  const client = Object.assign(Object.create(one) as ClickHouseClient, { command });
  const sql = testSql((await testDatabase()).url);
  const stores = { sql, client, place: { url, cluster: "main" } };
  const orderOf = async () =>
    await (
      await one.query({
        query:
          "select sorting_key from system.tables where database = currentDatabase() and name = 'tool_calls_stored'",
        format: "JSONEachRow",
      })
    ).json();
  await prepare(stores);
  const byHour = await orderOf();
  await sql`update clickhouse_state set compared_at = now()`;
  await one.command({ query: "drop table tool_calls_stored sync" });
  await one.command({
    query: `create table tool_calls_stored as tool_calls engine = ReplacingMergeTree(version) order by (org_id, origin, external_id)`,
  });
  await sql`
    insert into tool_calls (origin, external_id, id, started_at, channel, status, rank, decided_at, key_id, client, tags, tool)
    values ('o', 'call-1', gen_random_uuid(), now(), 'mcp', 'ok', 1, now(), gen_random_uuid(), 'c', '{}', 't')`;
  await sql`delete from clickhouse_marks`;
  statements.length = 0;

  await prepare(stores);
  expect(await orderOf()).toEqual(byHour);
  const place = statements.indexOf("drop table if exists tool_calls_stored on cluster `main` sync");
  expect(statements[place + 1]).toStartWith(
    "create table if not exists tool_calls_stored on cluster `main` (",
  );
  expect([...(await sql`select relation, rows from clickhouse_marks`)]).toEqual([
    { relation: "tool_calls", rows: 1 },
  ]);
  expect([...(await sql`select compared_at from clickhouse_state`)]).toEqual([{ compared_at: null }]);
  // The next start finds it as it is to be.
  await sql`delete from clickhouse_marks`;
  await prepare(stores);
  expect(await sql`select 1 from clickhouse_marks`).toHaveLength(0);
});
