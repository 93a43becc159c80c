// Runs in a Worker: brings what the gateway has committed to the disk, so that no fsync stops the event loop.
import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { parentPort } from "node:worker_threads";

/**
 * What the gateway tells the worker: the spool file, its heads, and how often its log and they are brought to the disk.
 * `sync` asks to be told when all that was written before it is there, in questions numbered upwards.
 */
export type FlushOrder =
  | { kind: "start"; path: string; headPath: string | null; everyMs: number }
  | { kind: "sync"; asked: number }
  | { kind: "stop" };
/**
 * What the worker tells the gateway. `code` is SQLite's or the system's; null says that a fault is over. `synced`
 * answers all questions up to that number.
 */
export type FlushNews =
  | { kind: "fault"; code: string | null }
  | { kind: "synced"; asked: number }
  | { kind: "stopped" };

/**
 * How often the log is copied into the file. Not at every flush: the first write after a copy starts the log anew,
 * and SQLite makes the writer wait for an fsync then.
 */
const CHECKPOINT_MS = 2000;
/** Size of the log, in pages, from which on it is started anew even if writers must be held up for that. */
const RESTART_PAGES = 8192;
/** Free pages from which on the file is made smaller, and how many go at once. */
const FREE_PAGES_MAX = 8192;
const VACUUM_PAGES = 2048;

type Flushing = { sync(asked: number): void; stop(): void };

let flushing: Flushing = { sync: () => {}, stop: () => {} };

const say = (news: FlushNews) => parentPort?.postMessage(news);

parentPort?.on("message", (order: FlushOrder) => {
  if (order.kind === "start") {
    flushing = flushEvery(order);
  } else if (order.kind === "sync") {
    flushing.sync(order.asked);
  } else {
    flushing.stop();
    say({ kind: "stopped" });
  }
});

function flushEvery({ path, headPath, everyMs }: Extract<FlushOrder, { kind: "start" }>): Flushing {
  const db = new Database(path, { readwrite: true, create: false });
  db.run("PRAGMA busy_timeout = 1000");
  db.run("PRAGMA synchronous = NORMAL");
  db.run("PRAGMA journal_size_limit = 16777216");
  const files = [`${path}-wal`, ...(headPath ? [headPath] : [])].map((name) => openSync(name, "r+"));
  let fault: string | null = null;
  let sinceMs = 0;
  let asked = 0;
  let answered = 0;

  /** The log first: a head is written over as soon as what it held is there. */
  const sync = () => {
    for (const file of files) fdatasyncSync(file);
  };

  function flush(work: () => void): void {
    const code = faultOf(work);
    if (code !== fault) say({ kind: "fault", code });
    fault = code;
  }

  function syncAndAnswer(): void {
    sync();
    if (asked > answered) say({ kind: "synced", asked });
    answered = asked;
  }

  const timer = setInterval(() => {
    sinceMs += everyMs;
    const due = sinceMs >= CHECKPOINT_MS;
    if (due) sinceMs = 0;
    flush(() => {
      syncAndAnswer();
      if (due) checkpoint(db);
    });
  }, everyMs);
  return {
    sync: (number) => {
      asked = number;
      flush(syncAndAnswer);
    },
    stop: () => {
      clearInterval(timer);
      faultOf(sync);
      for (const file of files) closeSync(file);
      db.close();
    },
  };
}

function faultOf(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    // Being held up by the gateway's own writes is no fault; the next round comes at once.
    return code.startsWith("SQLITE_BUSY") ? null : code;
  }
}

/** Syncs the log, copies it into the file, and syncs that. The passive kind of checkpoint holds nobody up. */
function checkpoint(db: Database): void {
  const passive = db.query<{ log: number }, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
  if ((passive?.log ?? 0) > RESTART_PAGES) db.query("PRAGMA wal_checkpoint(RESTART)").get();
  const free = db.query<{ freelist_count: number }, []>("PRAGMA freelist_count").get()?.freelist_count ?? 0;
  if (free > FREE_PAGES_MAX) db.run(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
}
