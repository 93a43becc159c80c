import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { connect } from "#drizzle/database.ts";
import { superuserUrlOf } from "#drizzle/embedded/address.ts";
import { ROLE } from "#drizzle/embedded/initialise.ts";
import type { Embedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { addMonth, monthOf } from "#drizzle/partitions.ts";
import { caughtUp, keepReplica } from "#drizzle/replica.ts";
import { systemClock } from "#shared/clock.ts";
import { migrationsUntil } from "#test/support/earlier-migrations.ts";
import { ask, keptLog, scratch, start } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { until as untilTrue } from "#test/support/until.ts";

const place = scratch();
let main: Embedded;
let replica: Embedded;
let gateway: LocalGateway;
let secret: string;

beforeAll(async () => {
  [main, replica] = await Promise.all([start(join(place.path, "main")), start(join(place.path, "replica"))]);
  // Replication is for the servers' own administrator to set up.
  for (const server of [main, replica]) await ask(superuserUrl(server), `alter role ${ROLE} superuser`);
  const dataDir = join(place.path, "gateway");
  const env = { REPORTS_DATABASE_URL: replica.url };
  gateway = await localGateway({ dataDir, databaseUrl: main.url, env });
  secret = (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "replica" })).secret;
});

afterAll(async () => {
  await gateway.stop();
  await replica.stop();
  await main.stop();
  place.remove();
});

function superuserUrl({ url, data }: Embedded): string {
  const directory = new URL(url).searchParams.get("host") ?? "";
  const password = readFileSync(join(dirname(data), "password"), "utf8").trim();
  return superuserUrlOf({ kind: "socket", directory }, password);
}

/** The address of a server as Postgres itself takes it. */
function conninfo(url: string): string {
  const { username, password, pathname, searchParams } = new URL(url);
  return `host=${searchParams.get("host")} port=5432 user=${username} password=${password} dbname=${pathname.slice(1)}`;
}

async function call(session: string): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "x-session-id": session },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hello" }] }),
  });
  await answer.body?.cancel();
  return answer.status;
}

const report = (filters: object = {}) =>
  fetch(`${gateway.url}/v1/reports/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({
      spec: {
        source: "requests",
        dimensions: [],
        measures: ["requests", "cost_usd"],
        filters,
        range: "7d",
        compare: "none",
        view: "table",
      },
    }),
  });

async function requestsOf(session: string): Promise<number> {
  const answer = await report({ session: [session] });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
  return (await answer.json()).total.current.requests;
}

/** Of a report that has all calls: on a busy machine, a replica may need more than a second for the last one. */
const allRequestsOf = (session: string): Promise<number> =>
  untilTrue(async () => {
    const { complete, total } = await (await report({ session: [session] })).json();
    return complete ? Number(total.current.requests) : null;
  });

/** What a report says that cannot be made now. */
async function refusal(): Promise<string> {
  const answer = await untilTrue(async () => {
    const answer = await report();
    return answer.status === 503 && answer;
  });
  const { error } = await answer.json();
  expect([answer.status, error.code, answer.headers.get("retry-after")]).toEqual([
    503,
    "store_unavailable",
    "5",
  ]);
  return error.message;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  await untilTrue(() => holds().catch(() => false));
}

describe("reports from a replica", () => {
  test("by logical replication: the gateway makes its tables, and a call just made is in the report", async () => {
    await until(async () => (await ask(replica.url, "select count(*) from requests")) === "0");
    await ask(
      main.url,
      "create publication tallygate for tables in schema public with (publish_via_partition_root = true)",
    );
    await ask(
      replica.url,
      `create subscription tallygate connection '${conninfo(main.url)}' publication tallygate`,
    );
    await call("first");
    await until(async () => (await ask(replica.url, "select count(*) from requests")) === "1");
    await until(async () => (await report()).status === 200);
    for (const turn of [1, 2, 3, 4, 5]) {
      expect(await call("again")).toBe(200);
      expect(await allRequestsOf("again")).toBe(turn);
    }
    // Money and counts are those of the main server, and its month's partition took the rows.
    const sums = "select count(*) || ' ' || coalesce(sum(cost_usd), 0) from requests";
    expect(await ask(replica.url, sums)).toBe(await ask(main.url, sums));
    expect(await ask(replica.url, "select count(*) from requests_default")).toBe("0");
    const asked = "select count(*) from pg_stat_activity where application_name = 'tallygate reports'";
    expect([await ask(main.url, asked), Number(await ask(replica.url, asked)) > 0]).toEqual(["0", true]);
  });

  test("while a table is not copied, as after an update that makes one, no report is made of what is there", async () => {
    for (const { url } of [main, replica]) await ask(url, "create table made_later (id int primary key)");
    await until(async () => (await refusal()).includes("has not copied all tables"));
    expect(await call("copied")).toBe(200);
    // Nor where the main server cannot be asked.
    const options = { name: "test", max: 1, statementTimeoutMs: 60_000 };
    const [away, there] = [connect("postgres://127.0.0.1:9/none", options), connect(replica.url, options)];
    expect(await caughtUp({ main: away, replica: there, clock: systemClock }, 60_000)).toBe("partial");
    await Promise.all([away.end({ timeout: 0 }), there.end()]);
    await ask(replica.url, "alter subscription tallygate refresh publication");
    await until(async () => (await report()).status === 200);
    for (const { url } of [main, replica]) await ask(url, "drop table made_later");
    expect((await report()).status).toBe(200);
  });

  test("an update of a logical replica leaves a new table empty, so that its rows can be copied", async () => {
    const beside = (name: string) => replica.url.replace(/\/\w+\?/, `/${name}?`);
    for (const [name, persons] of [
      ["main", "1"],
      ["copy", "0"],
    ] as const) {
      const url = beside(name);
      await ask(replica.url, `create database ${name}`);
      await migrate(url, migrationsUntil("0004_fourth"));
      if (name === "copy")
        await ask(
          url,
          "create subscription copied connection 'dbname=main' publication tallygate with (connect = false)",
        );
      await ask(
        url,
        "insert into rollup_state (org_id, rolled_to, raw_from) values ('default', '2026-04-01', '2026-04-01')",
      );
      await ask(
        url,
        `insert into rollup_sessions (day, cell, hours, key_id, records, unpriced, uncertain, latency_count, ttft_count, input_tokens,
          output_tokens, cached_tokens, priced_input_tokens, priced_output_tokens, latency_sum, ttft_sum, first_at, channel, client, owner, tags)
        values ('2026-03-01', 1, 1, gen_random_uuid(), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), 'api', 'curl', 'ada', '{}')`,
      );
      await migrate(url);
      expect(await ask(url, "select count(*) from rollup_people")).toBe(persons);
    }
    await ask(beside("copy"), "alter subscription copied set (slot_name = none)");
    await ask(beside("copy"), "drop subscription copied");
  });

  test("what the main server dropped leaves a logical replica, too", async () => {
    const client = connect(replica.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await client.begin((sql) => addMonth(sql, monthOf(new Date("2020-01-15"))));
    await client`insert into rollup_state (org_id, rolled_to, raw_from) values ('default', '2026-01-01', '2020-03-01')
      on conflict (org_id) do update set rolled_to = excluded.rolled_to, raw_from = excluded.raw_from`;
    const kept = keepReplica(replica.url, systemClock, keptLog());
    const there = "select count(*) from pg_class where relname = 'requests_2020_01'";
    await until(async () => (await ask(replica.url, there)) === "0");
    kept.stop();
    await client`delete from rollup_state`;
    await client.end();
  });

  test("while a replica lags, a report does not wait for it, and the log says so", async () => {
    await ask(replica.url, "alter subscription tallygate disable");
    await until(
      async () =>
        (await ask(replica.url, "select count(*) from pg_stat_subscription where pid is not null")) === "0",
    );
    await call("late");
    await until(async () => {
      expect(await requestsOf("late")).toBe(0);
      return gateway.log().includes("the replica for reports lags");
    });
    await ask(replica.url, "alter subscription tallygate enable");
    await until(async () => (await requestsOf("late")) === 1);
  });

  test("without its replica a report is 503 with a time to wait, and calls go on", async () => {
    await replica.stop();
    expect(await call("meanwhile")).toBe(200);
    await refusal();
    replica = await start(join(place.path, "replica"));
    await until(async () => (await requestsOf("meanwhile")) === 1);
  });

  test("by streaming replication: a standby needs nothing of the gateway, and shows the call just made", async () => {
    const standby = join(place.path, "standby");
    await backUp(main, join(standby, "postgres"));
    const following = await start(standby);
    const env = { REPORTS_DATABASE_URL: following.url };
    const second = await localGateway({
      dataDir: join(place.path, "second"),
      databaseUrl: main.url,
      env,
    });
    expect(await ask(following.url, "select pg_is_in_recovery()::text")).toBe("true");
    expect(await call("standby")).toBe(200);
    const answer = await untilTrue(async () => {
      const answer = await fetch(`${second.url}/v1/reports?id=spend-by-model&range=7d`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      return answer.ok && !answer.headers.has("x-gateway-report-incomplete") && answer;
    });
    const { reports } = await answer.json();
    const all = Number(await ask(main.url, "select count(*) from requests"));
    expect(reports[0].result.total.current.requests).toBe(all);
    await second.stop();
    await following.stop();
  });
});

/** A base backup of a running server, which follows it when it is started. */
async function backUp(from: Embedded, to: string): Promise<void> {
  const data = join(to, "data");
  const client = connect(from.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  mkdirSync(to, { recursive: true, mode: 0o711 });
  copyFileSync(join(dirname(from.data), "password"), join(to, "password"));
  await client`select pg_backup_start('standby', true)`;
  Bun.spawnSync(["cp", "-a", from.data, data]);
  const [stopped] = await client`select labelfile from pg_backup_stop()`;
  await client.end();
  rmSync(join(data, "postmaster.pid"));
  writeFileSync(join(data, "backup_label"), stopped?.["labelfile"]);
  writeFileSync(join(data, "standby.signal"), "");
  appendFileSync(join(data, "postgresql.auto.conf"), `primary_conninfo = '${conninfo(from.url)}'\n`);
  const { uid, gid } = statSync(from.data);
  for (const file of ["backup_label", "standby.signal"]) chownSync(join(data, file), uid, gid);
}
