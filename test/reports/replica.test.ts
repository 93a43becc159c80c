import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { ROLE, SUPERUSER } from "#drizzle/embedded/initialise.ts";
import { caughtUp } from "#drizzle/replica.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { callOnce, limitedKey } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import { until } from "#test/support/until.ts";

// A database to which nothing is copied. Both kinds of real replication: test/faults/reports-replica.test.ts.

describe("a replica for reports", () => {
  let gateway: LocalGateway;
  let replicaUrl: string;
  let gate: PostgresGate;
  let secret: string;

  beforeAll(async () => {
    replicaUrl = (await testDatabase({ ofGateway: true })).url;
    gate = await postgresGate(replicaUrl);
    gateway = await localGateway({ dataDir: scratch().path, env: { REPORTS_DATABASE_URL: gate.url } });
    ({ secret } = await limitedKey(gateway, {}));
  });

  const report = async () => {
    // Each is another question, which no answer of before is kept for.
    const filters = { route: ["echo", newId()] };
    const spec = { source: "requests", dimensions: [], measures: ["requests"], filters, range: "7d" };
    const answer = await fetch(`${gateway.url}/v1/reports/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      body: JSON.stringify({ spec: { ...spec, compare: "none", view: "table" } }),
    });
    const { total, error } = await answer.json();
    return {
      status: answer.status,
      requests: total?.current.requests,
      code: error?.code,
      said: error?.message,
      retryAfter: answer.headers.get("retry-after"),
    };
  };

  test("that lags is not waited for, and the log says so", async () => {
    expect((await callOnce(gateway.url, secret, { model: "echo" })).status).toBe(200);
    // On a busy machine, where the main server is may not be known in time.
    await until(async () => {
      expect(await report()).toMatchObject({ status: 200, requests: 0 });
      return gateway.log().includes("the replica for reports lags");
    });
  });

  test("is not known to have all calls while the main server does not say how far it is", async () => {
    const away = connect("postgres://127.0.0.1:9/none", { name: "test", max: 1, statementTimeoutMs: 1_000 });
    const servers = { main: away, replica: testSql(replicaUrl), clock: systemClock };
    expect(await caughtUp(servers, 120_000)).toBe("unknown");
    await away.end({ timeout: 0 });
  });

  test("that has not copied every table gives no report of what is there", async () => {
    const administrator = testSql(replicaUrl.replace(`//${ROLE}:`, `//${SUPERUSER}:`));
    await administrator.unsafe(
      "create subscription part connection 'dbname=main' publication tallygate with (connect = false)",
    );
    const refused = await until(async () => {
      const answer = await report();
      return answer.said?.includes("has not copied all tables") ? answer : null;
    });
    expect(refused).toMatchObject({ status: 503, code: "store_unavailable", retryAfter: "5" });
    await administrator.unsafe("alter subscription part set (slot_name = none)");
    await administrator.unsafe("drop subscription part");
    await until(async () => (await report()).status === 200);
  });

  test("that is away leaves reports 503 with a time to wait, and calls continue", async () => {
    await gate.shut();
    expect((await callOnce(gateway.url, secret, { model: "echo" })).status).toBe(200);
    expect(await report()).toMatchObject({ status: 503, code: "store_unavailable", retryAfter: "5" });
    await gate.open();
    await until(async () => (await report()).status === 200);
  });
});
