import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#shared/clock.ts";
import { readPresent } from "#shared/env.ts";
import { codeOf } from "#shared/error-code.ts";
import { connect, within } from "../database.ts";
import { type Address, listenFlags, superuserUrlOf } from "./address.ts";
import { type Binaries, postgresOf } from "./binaries.ts";
import type { ClusterLocation } from "./location.ts";
import { watchParent } from "./parent-watch.ts";
import { clearStalePidFile, isServerAlive, readPidFile } from "./pid-file.ts";
import { asUser } from "./system-user.ts";
import { serverFlags } from "./tuning.ts";

/** A server, whether we started it or found it. `exited` resolves when it is gone. It ends with this process until `unwatch`. */
export type Server = {
  pid: number;
  address: Address;
  alive(): boolean;
  exited: Promise<void>;
  unwatch(): void;
};

export type ServerSpec = {
  place: ClusterLocation;
  binaries: Binaries;
  password: string;
  /** How many processes of the gateway connect to it; 1 if absent. */
  gateways?: number;
  clock: Clock;
  /** Called when a start takes long. */
  progress: (text: string) => void;
  /** Ends a start. */
  signal?: AbortSignal | undefined;
};

/** How long a server that is still ending, or its unreaped remains, may keep the next one from starting. */
const REMAINS_MS_MAX = 20_000;

/** SQLSTATE class of a refused name or password. */
const REFUSED = /^28/;

/**
 * The server that already runs in the data directory, if it takes our password; null if none runs.
 * @throws Error when one runs and does not answer, or refuses the password.
 */
export async function adoptServer(spec: ServerSpec): Promise<Server | null> {
  const deadline = spec.clock.monotonicMs() + REMAINS_MS_MAX;
  for (;;) {
    const file = readPidFile(spec.place.data);
    if (file === null || !isServerAlive(spec.place.data, file.pid)) return null;
    const answer = file.address === null ? "no address yet" : await ask(file.address, spec.password);
    if (answer === null && file.address !== null) {
      return foundServer(spec.place.data, file.pid, file.address);
    }
    spec.signal?.throwIfAborted();
    if (REFUSED.test(answer ?? "") || spec.clock.monotonicMs() > deadline) {
      throw new Error(
        `A Postgres server (process ${file.pid}) runs in ${spec.place.data} and cannot be used (${answer}). Stop it, then start again.`,
      );
    }
    await Bun.sleep(100);
  }
}

/** Starts a server and resolves when it answers, however long it recovers. @throws Error with the reason it ended for. */
export async function launchServer(spec: ServerSpec, address: Address): Promise<Server> {
  const deadline = spec.clock.monotonicMs() + REMAINS_MS_MAX;
  for (;;) {
    const cleared = clearStalePidFile(spec.place.data);
    const outcome = cleared ? await tryLaunch(spec, address) : "the previous server has not ended yet";
    if (typeof outcome !== "string") return outcome;
    const hindered = !cleared || /lock file|shared memory block|Is another postmaster/.test(outcome);
    if (!hindered || spec.clock.monotonicMs() > deadline) {
      throw new Error(`Postgres did not start: ${outcome} (log: ${logOf(spec.place)})`);
    }
    spec.signal?.throwIfAborted();
    await Bun.sleep(250);
  }
}

async function tryLaunch(spec: ServerSpec, address: Address): Promise<Server | string> {
  const log = openLog(spec.place);
  const offset = statSync(logOf(spec.place)).size;
  const flags = Object.entries({ ...serverFlags(spec.gateways ?? 1), ...listenFlags(address) });
  const process = Bun.spawn(
    [
      postgresOf(spec.binaries),
      "-D",
      spec.place.data,
      ...flags.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    {
      cwd: "/",
      // No other variables: the account may read its process's environment.
      env: { LC_ALL: "C", ...Object.fromEntries(readPresent(["PATH", "SystemRoot", "TEMP"])) },
      ...asUser(spec.place.account),
      // Its own session: a Ctrl-C must not end it before the gateway has written its last records.
      detached: true,
      stdio: ["ignore", log, log],
    },
  );
  closeSync(log);
  process.unref();
  const alive = () => process.exitCode === null && process.signalCode === null;
  const unwatch = watchParent(process.pid, spec.place.data);
  const exited = process.exited.then(() => undefined);
  const server = { pid: process.pid, address, alive, exited, unwatch };
  let slowAt = spec.clock.monotonicMs() + 5_000;
  while (alive()) {
    const answer = await ask(address, spec.password);
    if (answer === null) return server;
    if (REFUSED.test(answer) || spec.signal?.aborted) {
      await stopServer(server);
      unwatch();
      spec.signal?.throwIfAborted();
      throw new Error(
        `The database in ${spec.place.data} refuses the password in ${join(spec.place.directory, "password")} (${answer}). Restore this file from the backup that the database is of.`,
      );
    }
    if (spec.clock.monotonicMs() > slowAt) {
      spec.progress("Postgres is recovering …");
      slowAt = Number.POSITIVE_INFINITY;
    }
    await Bun.sleep(15);
  }
  unwatch();
  return reasonIn(spec.place, offset) ?? `it ended with ${process.exitCode ?? process.signalCode}`;
}

/** Whether a server takes connections and answers none of them: nothing would come of waiting for its end. */
export const hangs = async (server: Server, password: string): Promise<boolean> =>
  (await ask(server.address, password)) === "DEADLINE";

/** Ends a server. Clients are cut off, commits stay. Signals get stronger if it is slow, or when `hurried` resolves. */
export async function stopServer(
  server: Server,
  patienceMs = 60_000,
  hurried: Promise<unknown> = new Promise(() => {}),
): Promise<void> {
  const means = [
    ["SIGINT", patienceMs],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ] as const;
  for (const [signal, waitMs] of means) {
    // The pid of a process that has ended may belong to another one by now.
    if (!server.alive()) return;
    process.kill(server.pid, signal);
    const over = signal === "SIGINT" ? Promise.race([server.exited, hurried]) : server.exited;
    await within(waitMs, over).catch(() => undefined);
  }
}

/** Null when the server answers a query, else the code of the failure. */
async function ask(address: Address, password: string): Promise<string | null> {
  const client = connect(superuserUrlOf(address, password), {
    name: "probe",
    max: 1,
    statementTimeoutMs: 2_000,
  });
  try {
    await within(2_500, client`select 1`);
    return null;
  } catch (error) {
    return codeOf(error) || "no answer";
  } finally {
    await client.end({ timeout: 0 });
  }
}

function foundServer(data: string, pid: number, address: Address): Server {
  const alive = () => isServerAlive(data, pid);
  const gone = async () => {
    while (alive()) await Bun.sleep(100);
  };
  return { pid, address, alive, exited: gone(), unwatch: watchParent(pid, data) };
}

const LOG_BYTES_MAX = 10 * 1024 ** 2;

const logOf = (place: ClusterLocation): string => join(place.directory, "server.log");

function openLog(place: ClusterLocation): number {
  const file = logOf(place);
  if (existsSync(file) && statSync(file).size > LOG_BYTES_MAX) renameSync(file, `${file}.1`);
  return openSync(file, "a", 0o600);
}

/** The last error that the server logged after `offset`. */
function reasonIn(place: ClusterLocation, offset: number): string | null {
  const written = readFileSync(logOf(place)).subarray(offset).toString("utf8");
  const complaints = written.split("\n").filter((line) => /FATAL|PANIC/.test(line));
  const last =
    complaints.findLast((line) => !/the database system is/.test(line)) ?? written.trim().split("\n").at(-1);
  return last ? last.replace(/^.*?(FATAL|PANIC): +/, "").slice(0, 300) : null;
}
