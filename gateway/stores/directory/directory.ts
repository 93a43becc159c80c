import { inArray } from "drizzle-orm";
import { type Database, within } from "#drizzle/database.ts";
import { keySecrets } from "#drizzle/schema/keys.ts";
import type { Ambient, Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { ClientKey, Directory, Secret } from "../../directory.ts";
import { GatewayError } from "../../errors.ts";
import { asker } from "../asker.ts";
import { createSealer } from "../seal.ts";
import { directoryReader, loadKeys, NO_DIRECTORY, openedDirectory, readVersion } from "./load-directory.ts";
import { secretLookup } from "./secret-lookup.ts";
import type { SnapshotFault, SnapshotFile } from "./snapshot.ts";

/** Another replica's change is seen after this long at most, beside the time that loading takes. */
const POLL_MS = 2000;
/** A query that takes longer has failed. */
const LOOK_DEADLINE_MS = 2000;
/** Time limit of `reachable`: readiness probes commonly wait for one second. */
const REACH_DEADLINE_MS = 500;
/** How old a snapshot may get while the database can be read: what its age then says is at most this wrong. */
const SNAPSHOT_MS = 10 * 60_000;
/** An older directory is logged: for that long, revocations from other replicas have not arrived. */
const STALE_MS = 15 * 60_000;

/** Where the directory comes from: the database, a snapshot of it, or nowhere yet. */
export type DirectoryState =
  | { source: "database" | "snapshot"; ageSeconds: number }
  | { source: "none"; fault: SnapshotFault };

export type DirectoryStore = {
  /** In memory; never awaits. Empty until there is one. */
  current(): Directory;
  state(): DirectoryState;
  /** Loads from the database, which must be migrated, and follows it from then on. */
  begin(): Promise<void>;
  /**
   * The key of a secret, by its lower-case hex SHA-256: at once if it is in memory, else by one bounded look-up, so that
   * a key created by another replica works immediately. Null for an unknown, revoked or expired one.
   * @throws GatewayError key_unverifiable if the look-up fails, not_ready while there is no directory.
   */
  keyOf(sha256Hex: string): ClientKey | null | Promise<ClientKey | null>;
  /** Loads again; after a change, before it is answered. */
  refresh(): Promise<void>;
  /** Calls `listener` with every new directory from now on. */
  subscribe(listener: (directory: Directory) => void): void;
  /** What the database takes now; null where it does not answer within 500 ms. Never rejects. */
  contact(): Promise<"writes" | "reads" | null>;
  close(): Promise<void>;
};

export type DirectoryOptions = Ambient & {
  database: Database;
  /** 32 bytes. */
  masterKey: Uint8Array;
  /** Providers' credentials of the environment, by the variable that the catalogue names. */
  providerKeys: ReadonlyMap<string, Secret>;
  /** Pause between two polls of the database; 2,000 if absent. */
  pollMs?: number;
  /** What to start from, and where to keep what is loaded. */
  snapshot: Pick<SnapshotFile, "found" | "keep" | "writtenAtMs">;
};

/**
 * What administrators configured, in memory and kept up to date with the database. While Postgres is unavailable, the
 * last directory serves: the one in memory, or at a start a recent snapshot.
 */
export function openDirectory(options: DirectoryOptions): DirectoryStore {
  const { database, clock, log, snapshot } = options;
  const sources = { sealer: createSealer(options.masterKey), providerKeys: options.providerKeys, log };
  const readDirectory = directoryReader(database);
  const listeners: ((directory: Directory) => void)[] = [];
  const first = firstDirectory(snapshot.found, sources, clock);
  let { directory, source } = first;
  const watch = freshness(clock, log, first.ageMs);
  const lookup = secretLookup(clock, async (hashes) => {
    const found = await loadKeys(database.db, withDigest(hashes));
    // A key that is not in memory yet: another replica's change has arrived.
    if (found.size > 0) void poll();
    return found;
  });
  const loads = oneAtATime(async () => {
    const rows = await readDirectory();
    watch.seen();
    lookup.forget();
    if (source === "database" && rows.version === directory.version) return;
    directory = openedDirectory(rows, sources);
    source = "database";
    snapshot.keep(rows);
    for (const listener of listeners) tell(listener, directory, log);
  });
  const poll = async () => {
    try {
      if ((await within(LOOK_DEADLINE_MS, readVersion(database))) !== directory.version) await loads.next();
      watch.seen();
      if (clock.monotonicMs() - snapshot.writtenAtMs() > SNAPSHOT_MS) snapshot.keep(await readDirectory());
    } catch (error) {
      watch.missed(error);
    }
  };
  let stop = async () => {};
  const alive = (key: ClientKey | null) =>
    key && (key.expiresAtMs === null || key.expiresAtMs > clock.now().getTime()) ? key : null;

  return {
    current: () => directory,
    state: () =>
      source === "none"
        ? { source, fault: first.fault }
        : { source, ageSeconds: Math.round(watch.ageMs() / 1000) },
    async begin() {
      await loads.next();
      stop = every(options.pollMs ?? POLL_MS, poll);
    },
    keyOf(sha256Hex) {
      if (source === "none") throw new GatewayError("not_ready");
      const known = directory.keys.get(sha256Hex);
      if (known) return alive(known);
      const answer = lookup.find(sha256Hex);
      return answer instanceof Promise ? answer.then(alive) : alive(answer);
    },
    refresh: () => loads.next(),
    subscribe: (listener) => void listeners.push(listener),
    contact: asker(() => within(REACH_DEADLINE_MS, contactOf(database))),
    close: () => stop(),
  };
}

async function contactOf({ sql }: Database): Promise<"writes" | "reads"> {
  const [row] = await sql<
    { reads: boolean }[]
  >`select current_setting('transaction_read_only') = 'on' as reads`;
  return row?.reads ? "reads" : "writes";
}

type First = { directory: Directory; source: DirectoryState["source"]; ageMs: number; fault: SnapshotFault };

/** The state before the database has answered. */
function firstDirectory(
  found: SnapshotFile["found"],
  sources: Parameters<typeof openedDirectory>[1],
  clock: Clock,
): First {
  if (typeof found === "string") return { directory: NO_DIRECTORY, source: "none", ageMs: 0, fault: found };
  const ageMs = clock.now().getTime() - found.takenAtMs;
  return { directory: openedDirectory(found.rows, sources), source: "snapshot", ageMs, fault: "missing" };
}

/** A failing listener must not keep a change from taking effect. */
function tell(listener: (directory: Directory) => void, directory: Directory, log: Log): void {
  try {
    listener(directory);
  } catch (error) {
    log.error(errorFields(error), "listener failed on a new directory");
  }
}

const withDigest = (hashes: string[]) =>
  inArray(
    keySecrets.sha256,
    hashes.map((hash) => Buffer.from(hash, "hex")),
  );

/** Tracks the directory's age; logs once when the database fails, when it stays unavailable, and when it returns. */
function freshness(clock: Clock, log: Log, firstAgeMs: number) {
  let seenAtMs = clock.monotonicMs() - firstAgeMs;
  let away: "no" | "yes" | "long" = "no";
  const ageMs = () => clock.monotonicMs() - seenAtMs;
  return {
    ageMs,
    seen() {
      if (away !== "no") log.info({ staleMs: Math.round(ageMs()) }, "directory is current again");
      seenAtMs = clock.monotonicMs();
      away = "no";
    },
    missed(error: unknown) {
      if (away === "no") {
        away = "yes";
        log.warn(errorFields(error), "directory cannot be read; the last version stays in use");
      } else if (away === "yes" && ageMs() > STALE_MS) {
        away = "long";
        log.error(
          { staleMs: Math.round(ageMs()) },
          "directory is stale: changes made elsewhere do not arrive",
        );
      }
    },
  };
}

/** Runs `work` never twice at once; `next` resolves with a run that began after it was called. */
function oneAtATime(work: () => Promise<void>): { next(): Promise<void> } {
  let running: Promise<void> | null = null;
  let queued: Promise<void> | null = null;
  const start = () => {
    queued = null;
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  return {
    next() {
      if (queued !== null) return queued;
      if (running === null) return start();
      queued = running.then(start, start);
      return queued;
    },
  };
}

/** Calls `work`, waits `ms`, and so on; the function that it returns ends that and waits for the last call. */
function every(ms: number, work: () => Promise<void>): () => Promise<void> {
  let stopped = false;
  let timer: Timer | undefined;
  let last = Promise.resolve();
  const again = () => {
    timer = setTimeout(() => {
      last = work().then(() => (stopped ? undefined : again()));
    }, ms);
    timer.unref();
  };
  again();
  return () => {
    stopped = true;
    clearTimeout(timer);
    return last;
  };
}
