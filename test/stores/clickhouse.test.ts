import { expect, test } from "bun:test";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { createTables } from "#gateway/stores/clickhouse/schema.ts";
import { atEnd } from "#test/support/at-end.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "#test/support/clickhouse.ts";

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
