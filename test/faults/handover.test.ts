import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { newId } from "#shared/ids.ts";
import { type Child, startChild } from "#test/support/child.ts";
import { scratch } from "#test/support/embedded.ts";
import { casesOf, isFaultRun } from "#test/support/fault-run.ts";
import { freePort } from "#test/support/ports.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

// The real launcher restarts the real programs under load. No call may be refused, cut or lost, and each is recorded once.

const START = join(import.meta.dir, "../../gateway/cli/start.ts");
const RESTARTS = isFaultRun ? 2 : 1;

type Outcome = { answered: string[]; failed: string[] };

/** Calls one after the other until told to stop, each under a session of its own. */
async function caller(
  { url, dataDir }: { url: string; dataDir: string },
  { keepalive, running }: { keepalive: boolean; running: () => boolean },
  { answered, failed }: Outcome,
) {
  const secret = readFileSync(join(dataDir, "first-key"), "utf8").trim();
  for (let n = 0; running(); n++) {
    const session = newId();
    // Many calls are under way at each moment of a restart, and more than these show no more.
    if (!isFaultRun) await Bun.sleep(10);
    try {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        keepalive,
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": "application/json",
          "x-session-id": session,
        },
        body: JSON.stringify({
          model: "echo",
          stream: n % 2 === 0,
          messages: [{ role: "user", content: "Hello" }],
        }),
      });
      const text = await answer.text();
      if (answer.ok && text.length > 0) answered.push(session);
      else failed.push(`${answer.status} ${text}`);
    } catch (error) {
      failed.push(error instanceof Error && "code" in error ? String(error.code) : String(error));
    }
  }
}

describe.each(casesOf([1, 2]))("with %i workers", (workers) => {
  const place = scratch();
  const dataDir = join(place.path, "data");
  const url = `http://127.0.0.1:${freePort()}`;
  let database: TestDatabase;
  let sql: postgres.Sql;
  let launcher: Child;

  beforeAll(async () => {
    database = await testDatabase();
    sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    launcher = await startChild([process.execPath, "--no-env-file", START], {
      PATH: process.env["PATH"] ?? "",
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      MASTER_KEY: "07".repeat(32),
      PORT: new URL(url).port,
      GITHUB_APP_PORT: String(freePort()),
      WORKERS: String(workers),
    });
    await until(() => {
      if (launcher.hasExited()) throw new Error(launcher.log());
      return (
        launcher.log().includes("Tallygate is ready.") &&
        launcher.log().split("gateway listens").length === workers + 1
      );
    });
  });

  afterAll(async () => {
    await launcher.end("SIGTERM");
    await launcher.exited;
    await sql.end();
    await database.close();
  });

  test("calls go on through a SIGHUP to the launcher: none is refused or lost, and each is recorded once", async () => {
    const outcome: Outcome = { answered: [], failed: [] };
    let running = true;
    const callers = [true, true, false, false].map((keepalive) =>
      caller({ url, dataDir }, { keepalive, running: () => running }, outcome),
    );
    for (let restart = 1; restart <= RESTARTS; restart++) {
      const before = outcome.answered.length;
      await until(() => outcome.answered.length > before + 20);
      process.kill(launcher.pid, "SIGHUP");
      await until(() => launcher.log().split("Restarted.").length > restart);
      // The old workers have ended: they say so.
      await until(() => launcher.log().split("gateway stopped").length > restart * workers);
      const after = outcome.answered.length;
      await until(() => outcome.answered.length > after + 20);
      expect(launcher.log().split("gateway listens").length).toBe(1 + workers * (restart + 1));
    }
    running = false;
    await Promise.all(callers);
    expect(outcome.failed).toEqual([]);
    const recorded = async () => {
      const rows = await sql<{ session: string }[]>`
      select session from requests where session = any(${outcome.answered})`;
      return rows.map(({ session }) => session).sort();
    };
    await until(async () => (await recorded()).length >= outcome.answered.length);
    expect(await recorded()).toEqual(outcome.answered.toSorted());
  });
});
