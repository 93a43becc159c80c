import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Embedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { scratch, start } from "#test/support/embedded.ts";
import { ADMIN_KEY, type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";

const place = scratch();
let database: Embedded;
let gateway: GatewayProcess;

beforeAll(async () => {
  database = await start(join(place.path, "data"));
  await migrate(database.url);
  gateway = await startGateway({
    dataDir: join(place.path, "gateway"),
    databaseUrl: database.url,
    env: { METRICS_PUBLIC: "true" },
  });
});
afterAll(async () => {
  await gateway.stop();
  await database.stop();
  place.remove();
});

const asked = (path: string) =>
  fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });

/** Seconds that reports have waited for their share until now, and how many there were. */
async function waits(): Promise<{ seconds: number; reports: number }> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const value = (what: string) =>
    Number(new RegExp(`^tallygate_report_wait_seconds_${what} (.+)$`, "m").exec(text)?.[1]);
  return { seconds: value("sum"), reports: value("count") };
}

/** Asks for reports in four loops until they are enough, and tells how long the slowest took. */
async function hammer(isEnough: (made: number) => boolean): Promise<number> {
  let slowestMs = 0;
  let made = 0;
  const loop = async () => {
    while (!isEnough(made)) {
      const beganMs = performance.now();
      const answer = await asked("/v1/reports?range=7d");
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
      made += 1;
      slowestMs = Math.max(slowestMs, performance.now() - beganMs);
    }
  };
  await Promise.all([loop(), loop(), loop(), loop()]);
  return slowestMs;
}

test("reports without a pause wait for their share while calls are answered, and only then", async () => {
  await hammer((made) => made > 20);
  const quiet = await waits();
  expect(quiet.seconds).toBe(0);
  expect(quiet.reports).toBeGreaterThan(20);

  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "beside" });
  const call = async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "why" }] }),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  };
  const calling = setInterval(() => void call(), 50);
  const untilMs = performance.now() + 30_000;
  let waited = quiet;
  const looking = setInterval(async () => {
    waited = await waits();
  }, 250);
  const slowestMs = await hammer(() => waited.seconds > 1 || performance.now() > untilMs);
  clearInterval(calling);
  clearInterval(looking);
  expect(waited.seconds).toBeGreaterThan(1);
  // Four take turns, and none waits more than two seconds for its own.
  expect(slowestMs).toBeLessThan(4 * 2_500);
});
