// Runs in a Worker: brings what the gateway has committed to the disk, so that no fsync stops the event loop.
import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { parentPort } from "node:worker_threads";

/** What the gateway tells the worker: the spool file, and how often its log is brought to the disk. */
export type FlushOrder = { kind: "start"; path: string; everyMs: number } | { kind: "stop" };
/** What the worker tells the gateway. `code` is SQLite's or the system's; null says that a fault is over. */
export type FlushNews = { kind: "fault"; code: string | null } | { kind: "stopped" };

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

let stop = () => {};

const say = (news: FlushNews) => parentPort?.postMessage(news);

parentPort?.on("message", (order: FlushOrder) => {
  if (order.kind === "start") {
    stop = flushEvery(order.path, order.everyMs);
  } else {
    stop();
    say({ kind: "stopped" });
  }
});

function flushEvery(path: string, everyMs: number): () => void {
  const db = new Database(path, { readwrite: true, create: false });
  db.run("PRAGMA busy_timeout = 1000");
  db.run("PRAGMA synchronous = NORMAL");
  db.run("PRAGMA journal_size_limit = 16777216");
  const wal = openSync(`${path}-wal`, "r+");
  let fault: string | null = null;
  let sinceMs = 0;
  const timer = setInterval(() => {
    sinceMs += everyMs;
    const due = sinceMs >= CHECKPOINT_MS;
    if (due) sinceMs = 0;
    const code = faultOf(() => (due ? checkpoint(db) : fdatasyncSync(wal)));
    if (code !== fault) say({ kind: "fault", code });
    fault = code;
  }, everyMs);
  return () => {
    clearInterval(timer);
    faultOf(() => fdatasyncSync(wal));
    closeSync(wal);
    db.close();
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
