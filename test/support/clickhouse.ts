import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@clickhouse/client";
import { atEnd } from "./at-end.ts";
import { type Child, startChild } from "./child.ts";
import { until } from "./until.ts";

/** Names the address of a server to test instead of the engine; tests that end it cannot run there. */
const OFFICIAL = process.env["TALLYGATE_TEST_CLICKHOUSE_SERVER"];

/** Whether the engine is installed: packages of it exist for Linux and macOS. Without it, suites that need it are skipped. */
export const HAS_CLICKHOUSE = OFFICIAL !== undefined || isInstalled();
if (!HAS_CLICKHOUSE) console.warn("chDB is not installed, so tests with ClickHouse are skipped.");

function isInstalled(): boolean {
  const library = process.platform === "linux" ? `linux-${process.arch}-gnu` : `darwin-${process.arch}`;
  try {
    return import.meta.resolve(`@chdb/lib-${library}/package.json`) !== "";
  } catch {
    return false;
  }
}

export type TestClickHouse = {
  /** With user, password and database. */
  url: string;
  /** The address of an empty database of its own. */
  database(): Promise<string>;
  /** @throws Error while it does not run. */
  pid(): number;
  /** Ends the process at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same data and the same port, after `kill`. */
  start(): Promise<void>;
  close(): Promise<void>;
};

/** Names the address of the server that `test/run.ts --clickhouse` starts for the gateways of all suites. */
export const SERVER_URL = "TALLYGATE_TEST_CLICKHOUSE";

/**
 * The address of the database on that server for gateways that share a database of Postgres, which it makes; null where the
 * suites run on Postgres alone.
 */
export async function clickHouseBeside(postgresUrl: string): Promise<string | null> {
  const server = process.env[SERVER_URL];
  return server ? await makeDatabase(server, new URL(postgresUrl).pathname.slice(1)) : null;
}

async function makeDatabase(server: string, name: string): Promise<string> {
  const client = createClient({ url: server });
  await client.command({ query: `create database if not exists ${name}` });
  await client.close();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

const USER = "tallygate";
const PASSWORD = "a password";
const SCRIPT = join(import.meta.dir, "clickhouse-child.ts");

const databaseOn = (url: string) => makeDatabase(url, `t_${crypto.randomUUID().replaceAll("-", "")}`);

/** ClickHouse's engine behind its HTTP interface in a process of its own, which ends with the test or the file. */
export async function startClickHouse(): Promise<TestClickHouse> {
  if (OFFICIAL !== undefined) {
    const not = () => {
      throw new Error("a server of its own is needed");
    };
    const database = () => databaseOn(OFFICIAL);
    return { url: OFFICIAL, database, pid: not, kill: not, start: not, close: async () => undefined };
  }
  const directory = mkdtempSync(join(tmpdir(), "tallygate-clickhouse-"));
  let child: Child | null = null;
  let port = 0;
  const start = async () => {
    const { PATH = "", HOME = "" } = process.env;
    const command = [process.execPath, SCRIPT, directory, String(port), USER, PASSWORD];
    const started = await startChild(command, { PATH, HOME });
    child = started;
    await until(() => {
      if (started.hasExited()) throw new Error(`ClickHouse did not start: ${started.log()}`);
      return /^listening \d+$/m.test(started.log());
    });
    port = Number(/^listening (\d+)$/m.exec(started.log())?.[1]);
  };
  const kill = async () => {
    await child?.end("SIGKILL");
  };
  const close = atEnd(async () => {
    await kill();
    rmSync(directory, { recursive: true, force: true });
  });
  await start();
  const url = `http://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/default`;
  return {
    url,
    pid: () => {
      if (!child) throw new Error("ClickHouse does not run");
      return child.pid;
    },
    database: () => databaseOn(url),
    kill,
    start,
    close,
  };
}
