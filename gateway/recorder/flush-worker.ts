// Runs in a Worker: syncs what the gateway has committed to the disk, so that no fsync blocks the event loop.
import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { codeOf } from "#shared/error-code.ts";

export type FlushOrder = { kind: "start"; path: string; everyMs: number } | { kind: "stop" };
/** `code` is SQLite's or the system's; null says that a fault is over. */
export type FlushEvent = { kind: "fault"; code: string | null } | { kind: "stopped" };

/** How often the log is copied to the file. Rarely: a write after a copy restarts the log and waits for an fsync. */
const CHECKPOINT_MS = 2000;
/** Size of the log, in pages, at which it is restarted even if writers have to wait for that. */
const RESTART_PAGES = 8192;
/** Number of free pages at which the file is made smaller, and how many go at once. */
const FREE_PAGES_MAX = 8192;
const VACUUM_PAGES = 2048;

let stop = () => {};

const say = (news: FlushEvent) => parentPort?.postMessage(news);

parentPort?.on("message", (order: FlushOrder) => {
  if (order.kind === "start") {
    stop = flushEvery(order);
  } else {
    stop();
    say({ kind: "stopped" });
  }
});

function flushEvery({ path, everyMs }: Extract<FlushOrder, { kind: "start" }>): () => void {
  const db = new Database(path, { readwrite: true, create: false });
  db.run("PRAGMA busy_timeout = 1000");
  db.run("PRAGMA synchronous = NORMAL");
  db.run("PRAGMA journal_size_limit = 16777216");
  const wal = openSync(`${path}-wal`, "r+");
  let fault: string | null = null;
  let sinceMs = 0;

  const timer = setInterval(() => {
    sinceMs += everyMs;
    const code = faultOf(() => {
      fdatasyncSync(wal);
      if (sinceMs < CHECKPOINT_MS) return;
      checkpoint(db);
      sinceMs = 0;
    });
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
    const code = codeOf(error) || "unknown";
    // The gateway's own writes may hold the lock; the next round tries again.
    return code.startsWith("SQLITE_BUSY") ? null : code;
  }
}

/** Syncs the log, copies it into the file, and syncs that. A passive checkpoint blocks no writer. */
function checkpoint(db: Database): void {
  const passive = db.query<{ log: number }, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
  if ((passive?.log ?? 0) > RESTART_PAGES) db.query("PRAGMA wal_checkpoint(RESTART)").get();
  const free = db.query<{ freelist_count: number }, []>("PRAGMA freelist_count").get()?.freelist_count ?? 0;
  if (free > FREE_PAGES_MAX) db.run(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
}
