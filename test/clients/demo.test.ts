import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { atEnd } from "#test/support/at-end.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "#test/support/clickhouse.ts";
import { freePort } from "#test/support/ports.ts";
import { until } from "#test/support/until.ts";

const MAIN = join(import.meta.dir, "../demo/main.ts");

async function demo(env: Record<string, string> = {}) {
  const { PATH = "", HOME = "/" } = process.env;
  const run = Bun.spawn([process.execPath, "--no-env-file", MAIN], {
    env: { PATH, HOME, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  return { stdout, stderr, status: await run.exited };
}

test("the demo's report is equal to the sum by hand, on an installation of its own beside any other", async () => {
  const beside = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ready") });
  const { stdout, stderr, status } = await demo({ PORT: String(beside.port) });
  await beside.stop(true);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("The report and the sum by hand are equal.");
  expect(stdout).not.toContain("NOT EQUAL");
});

test.skipIf(!HAS_CLICKHOUSE)(
  "the same with a ClickHouse, in a database of the demo's own that ends with it",
  async () => {
    const server = await startClickHouse();
    const client = openClickHouse(server.url, { name: "test", timeoutMs: 30_000, connectionsMax: 1 });
    atEnd(() => client.close());
    const ask = async (query: string) => await (await client.query({ query, format: "TabSeparated" })).text();
    const running = demo({ CLICKHOUSE_URL: server.url });
    await until(async () => {
      const name = /^tallygate_demo_\w+$/m.exec(await ask("show databases"))?.[0];
      const calls = name ? await ask(`select count() from ${name}.requests`).catch(() => "0") : "0";
      return Number(calls) > 0;
    });
    const { stdout, stderr, status } = await running;
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("The report and the sum by hand are equal.");
    expect(await ask("show databases")).not.toContain("demo");
  },
);

test("a ClickHouse that does not answer is a fault that says what to do, and starts nothing", async () => {
  const { stdout, stderr, status } = await demo({ CLICKHOUSE_URL: `http://127.0.0.1:${freePort()}/x` });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("unset CLICKHOUSE_URL");
});

test("an installation that is named by its webhook secret and does not answer is a fault that says what to do", async () => {
  const { stderr, status } = await demo({
    PORT: String(freePort()),
    WEBHOOK_SECRET: "a webhook secret of the test",
  });
  expect(status).toBe(1);
  expect(stderr).toContain("Start it with the same settings (bun run start)");
});

test("a demo that is stopped while its installation starts leaves neither processes nor a directory", async () => {
  const { PATH = "", HOME = "/" } = process.env;
  const run = Bun.spawn([process.execPath, "--no-env-file", MAIN], {
    env: { PATH, HOME },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let told = "";
  for await (const bytes of run.stdout) {
    told += new TextDecoder().decode(bytes);
    if (told.includes("Starting an installation")) break;
  }
  const place = /Starting an installation in (\S+)/.exec(told)?.[1] ?? "";
  await until(() => existsSync(`${place}/postgres`));
  run.kill("SIGTERM");
  expect(await run.exited).toBe(130);
  expect(existsSync(place)).toBe(false);
});

test("settings that cannot be used are named", async () => {
  const { stderr, status } = await demo({ PORT: "http" });
  expect(status).toBe(1);
  expect(stderr).toContain("PORT");
});
