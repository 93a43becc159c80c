import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import { deliver, WEBHOOK_SECRET } from "#test/support/github-app.ts";
import { pullRequestPayload } from "#test/support/github-payloads.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const MAIN = join(import.meta.dir, "../../github-app/main.ts");

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = server;
  server.stop(true);
  return port;
}

/** The real process with exactly these settings. */
function start(settings: Record<string, string>) {
  const port = freePort();
  const child = Bun.spawn([process.execPath, MAIN], {
    env: { PATH: "/usr/bin:/bin", GITHUB_APP_PORT: String(port), DATABASE_URL: database.url, ...settings },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const url = `http://127.0.0.1:${port}`;
  const text = (stream: ReadableStream) => new Response(stream).text();
  return { child, url, output: text(child.stdout), errors: text(child.stderr) };
}

async function ready(url: string): Promise<Response> {
  return await until(async () => {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    return answer?.ok ? answer : null;
  });
}

describe("the process", () => {
  test("takes deliveries, applies them, and ends in order at SIGTERM with nothing lost", async () => {
    const it = start({ WEBHOOK_SECRET });
    await ready(it.url);
    const sent = Array.from({ length: 30 }, (_, index) =>
      deliver(`${it.url}/api/github/webhooks`, "pull_request", pullRequestPayload({ number: index + 1 })),
    );
    // The switch is off: verified, accepted, not stored.
    for (const answer of await Promise.all(sent)) expect(answer.status).toBe(202);
    const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await sql`insert into settings (value, updated_at) values ('{"pull_request_stamping": true}', now())`;
    const accepted = Array.from({ length: 30 }, (_, index) =>
      deliver(`${it.url}/api/github/webhooks`, "pull_request", pullRequestPayload({ number: index + 1 })),
    );
    for (const answer of await Promise.all(accepted)) expect(answer.status).toBe(202);
    it.child.kill("SIGTERM");
    expect(await it.child.exited).toBe(0);
    const [stored] = await sql`select count(*)::int as size from webhook_inbox`;
    expect(stored?.["size"]).toBe(30);
    await sql.end();
    const lines = (await it.output).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).name)).toEqual(lines.map(() => "github-app"));
    expect(lines.join("\n")).not.toContain(WEBHOOK_SECRET);
    expect(await it.errors).toBe("");
  });

  test("started by the launcher, ends when the launcher is gone", async () => {
    const it = start({ TALLYGATE_SUPERVISED: "1" });
    await ready(it.url);
    it.child.stdin.end();
    expect(await it.child.exited).toBe(0);
  });

  test("without any GitHub settings serves the set-up page", async () => {
    const it = start({});
    await ready(it.url);
    expect(await (await fetch(it.url)).text()).toContain("not configured");
    const answer = await deliver(`${it.url}/api/github/webhooks`, "ping", { zen: "x" });
    expect(answer.status).toBe(404);
    it.child.kill("SIGINT");
    expect(await it.child.exited).toBe(0);
  });

  test("with faulty settings ends with status 78, and names them all without their values", async () => {
    const it = start({ WEBHOOK_SECRET: "development", APP_ID: "12", GITHUB_APP_PORT: "many" });
    expect(await it.child.exited).toBe(78);
    const errors = await it.errors;
    for (const name of ["WEBHOOK_SECRET", "PRIVATE_KEY", "GITHUB_APP_PORT"]) expect(errors).toContain(name);
    expect(errors).not.toContain('"development"');
  });

  test("with its port taken ends with status 1", async () => {
    const first = start({});
    await ready(first.url);
    const second = start({ GITHUB_APP_PORT: new URL(first.url).port });
    expect(await second.child.exited).toBe(1);
    first.child.kill("SIGTERM");
    await first.child.exited;
  });

  test.each([
    ["its own secret", { WEBHOOK_SECRET }],
    [
      "what a set-up page may have made",
      { MASTER_KEY: "5".repeat(64), ADMIN_KEY: "an-admin-key-of-some-length" },
    ],
  ])(
    "without a database, but %s, lives, is not ready, and answers 503 to deliveries",
    async (_, settings) => {
      const it = start({ ...settings, DATABASE_URL: "postgres://nobody:x@127.0.0.1:9/none" });
      await until(async () => (await fetch(`${it.url}/healthz`).catch(() => null))?.ok);
      expect((await fetch(`${it.url}/readyz`)).status).toBe(503);
      const answer = await deliver(`${it.url}/api/github/webhooks`, "pull_request", pullRequestPayload());
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("30");
      it.child.kill("SIGTERM");
      expect(await it.child.exited).toBe(0);
    },
  );
});
