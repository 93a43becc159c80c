import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#test/support/ports.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

const directory = mkdtempSync(join(tmpdir(), "tg-start-"));
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
});

/** A gateway, or the launcher, that cannot start, to its end. */
async function failedStart(env: Record<string, string>, script = "gateway/main.ts") {
  const child = Bun.spawn([process.execPath, "--no-env-file", script], {
    cwd: join(import.meta.dir, "../.."),
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      DATABASE_URL: database.url,
      DATA_DIR: join(directory, "data"),
      MASTER_KEY: "7".repeat(64),
      ADMIN_KEY: "an-admin-key-of-some-length",
      PORT: String(freePort()),
      ...env,
    },
  });
  const [told, logged] = await Promise.all([
    new Response(child.stderr).text(),
    new Response(child.stdout).text(),
  ]);
  return { exitCode: await child.exited, text: told + logged };
}

test("a spool that cannot be made ends the start with its place and what to do, and no trace of code", async () => {
  const file = join(directory, "a-file");
  writeFileSync(file, "");
  const { exitCode, text } = await failedStart({ SPOOL_DIR: join(file, "spool") });
  expect(text).toContain(`The spool in ${join(file, "spool")} cannot be written`);
  expect(text).toContain("SPOOL_DIR");
  expect(text).not.toContain("ReferenceError");
  expect(text).not.toContain("main.ts");
  expect(exitCode).toBe(1);
});

test("a port that is taken ends the start in one line, also without the launcher", async () => {
  const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
  const { exitCode, text } = await failedStart({ PORT: String(taken.port) });
  await taken.stop(true);
  expect(text).toContain("EADDRINUSE");
  expect(text).not.toContain("ReferenceError");
  expect(exitCode).toBe(1);
});

test("a data directory that cannot be used is named with its setting", async () => {
  const file = join(directory, "in-the-way");
  writeFileSync(file, "");
  for (const DATA_DIR of [file, join(file, "data")]) {
    const { exitCode, text } = await failedStart({ DATA_DIR }, "gateway/cli/start.ts");
    expect(text).toStartWith(`DATA_DIR ${DATA_DIR} cannot be used: `);
    expect(exitCode).toBe(1);
  }
});
