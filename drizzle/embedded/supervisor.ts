import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pause, restartDelayMs } from "#shared/backoff.ts";
import type { Ambient } from "#shared/clock.ts";
import { codeOf } from "#shared/error-code.ts";
import type { Log } from "#shared/log.ts";
import { connected, within } from "../database.ts";
import { type Address, chooseAddress, ownership, superuserUrlOf, urlOf } from "./address.ts";
import { type Binaries, findBinaries } from "./binaries.ts";
import { initialise } from "./initialise.ts";
import { type ClusterLocation, chooseLocation, passwordOf, SYSTEM_ROOT } from "./location.ts";
import { holdLock } from "./lock.ts";
import { repairOwners } from "./owners.ts";
import { isServerAlive, readPidFile } from "./pid-file.ts";
import { adoptServer, hangs, launchServer, type Server, type ServerSpec, stopServer } from "./server.ts";

/** How long a server that is ending may take. */
const ENDING_MS_MAX = 20_000;

export type EmbeddedOptions = Ambient & {
  /** Absolute. */
  dataDirectory: string;
  /** Called before each step that can take seconds. */
  progress: (text: string) => void;
  /** How many processes of the gateway connect to it; 1 if absent. */
  gateways?: number;
  systemRoot?: string;
  /** Ends a start, with the signal's reason as its failure; no server is left then. */
  signal?: AbortSignal;
};

export type Embedded = {
  /** For `connect`; stays the same for the lifetime of this object, also after a restart of the server. */
  url: string;
  /** Where the cluster's files lie. */
  data: string;
  version: string;
  /** The user that the server runs as, if not this process's own. */
  user: string | null;
  /** Whether the server was found running, rather than started. */
  adopted: boolean;
  /** Ends the server and releases the directory; at once when `hurried` resolves, or if the server hangs. */
  stop(hurried?: Promise<unknown>): Promise<void>;
};

/**
 * An embedded Postgres on the files of `dataDirectory`. Creates a cluster if none exists, adopts a server that
 * still runs there, else starts one, and restarts it if it ends until `stop` is called. It ends with this process.
 * @throws Error with what to do, also when another launcher uses the directory.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const place = chooseLocation(options.dataDirectory, options.systemRoot);
  const lock = holdLock(place.directory);
  try {
    const binaries = binariesFor(place, options);
    const spec: ServerSpec = {
      place,
      binaries,
      password: passwordOf(place),
      gateways: options.gateways ?? 1,
      clock: options.clock,
      progress: options.progress,
      signal: options.signal,
    };
    if (!existsSync(place.data)) {
      options.progress(`Creating the database in ${place.data} …`);
      await initialise({ binaries, account: place.account, directory: place.data, password: spec.password });
    }
    repairOwners(place, options.progress);
    const { server, adopted } = await openServer(spec);
    const keeper = keepAlive(spec, server, options.log);
    return {
      url: urlOf(server.address, spec.password),
      data: place.data,
      version: binaries.version,
      user: place.account?.name ?? null,
      adopted,
      stop: async (hurried) => {
        await keeper.stop(hurried);
        removeTemporary(server.address, place);
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The running server, or a new one; waits for a server that is shutting down. */
async function openServer(spec: ServerSpec): Promise<{ server: Server; adopted: boolean }> {
  for (;;) {
    const found = await adoptServer(spec);
    const { directory, account } = spec.place;
    const server = found ?? (await launchServer(spec, await chooseAddress(directory, account)));
    try {
      await ensureDatabase(server.address, spec.password);
      return { server, adopted: found !== null };
    } catch (error) {
      if (found === null || !isEnding(error) || !(await endsSoon(found))) throw error;
    }
  }
}

/** Whether a server that shuts down, or has just gone, can give this error. */
const isEnding = (error: unknown): boolean => /^(57P0|CONNECTION_|ECONN|ENOENT)/.test(codeOf(error));

const endsSoon = (server: Server): Promise<boolean> =>
  within(
    ENDING_MS_MAX,
    server.exited.then(() => true),
  ).catch(() => false);

function binariesFor(place: ClusterLocation, options: EmbeddedOptions): Binaries {
  const version = join(place.data, "PG_VERSION");
  if (existsSync(place.data) && !existsSync(version)) {
    throw new Error(`${place.data} is not a Postgres data directory. Remove it, or choose another DATA_DIR.`);
  }
  const major = existsSync(version) ? Number(readFileSync(version, "utf8")) : null;
  return findBinaries({ account: place.account, copyRoot: options.systemRoot ?? SYSTEM_ROOT, major });
}

/** Creates the role and its database unless they exist. */
const ensureDatabase = (address: Address, password: string): Promise<void> =>
  connected(superuserUrlOf(address, password), SET_UP, async (client) => {
    const { role, database } = ownership(password);
    const [hasRole] = await client`select 1 from pg_roles where rolname = ${role.name}`;
    if (!hasRole) await client.unsafe(role.create);
    const [hasDatabase] = await client`select 1 from pg_database where datname = ${database.name}`;
    if (!hasDatabase) await client.unsafe(database.create);
  });
const SET_UP = { name: "set-up", statementTimeoutMs: 60_000 };

/** Restarts the server whenever it ends: after a crash, a full disk, or a kill. */
function keepAlive(spec: ServerSpec, first: Server, log: Log) {
  const stopping = new AbortController();
  let server = first;
  const watch = async () => {
    let delayMs = 0;
    let answered = true;
    for (;;) {
      await server.exited;
      server.unwatch();
      if (stopping.signal.aborted) return;
      delayMs = restartDelayMs(delayMs, answered);
      log.warn({ server: server.pid, delayMs }, "Postgres ended; restarting it");
      await pause(delayMs, stopping.signal);
      if (stopping.signal.aborted) return;
      // After a failed try `server` is the one that ended: the loop comes round at once, and waits longer.
      const next = await tryAgain(spec, first.address, log);
      answered = next !== null;
      server = next ?? server;
      if (stopping.signal.aborted) await stopServer(server);
    }
  };
  const watching = watch();
  return {
    stop: async (hurried?: Promise<unknown>): Promise<void> => {
      stopping.abort();
      await stopServer(server, (await hangs(server, spec.password)) ? 0 : undefined, hurried);
      await watching;
    },
  };
}

async function tryAgain(spec: ServerSpec, address: Address, log: Log): Promise<Server | null> {
  try {
    const again = { ...spec, signal: undefined };
    const server = (await adoptServer(again)) ?? (await launchServer(again, address));
    log.info({ server: server.pid }, "Postgres answers again");
    return server;
  } catch (error) {
    log.error({ reason: error instanceof Error ? error.message : "unknown" }, "Postgres cannot be started");
    return null;
  }
}

function removeTemporary(address: Address, place: ClusterLocation): void {
  if (address.kind === "socket" && !address.directory.startsWith(place.directory)) {
    rmSync(address.directory, { recursive: true, force: true });
  }
}

/** The address of the database that runs on the files of `dataDirectory` (absolute); null if none does. */
export function runningDatabase(dataDirectory: string): string | null {
  const place = chooseLocation(dataDirectory);
  const file = readPidFile(place.data);
  if (!file?.address || !isServerAlive(place.data, file.pid)) return null;
  return urlOf(file.address, passwordOf(place));
}
