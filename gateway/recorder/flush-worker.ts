// Runs in a Worker: brings what the gateway has committed to the disk, so that no fsync stops the event loop.
import { Database } from "bun:sqlite";
import { parentPort } from "node:worker_threads";

/** What the gateway tells the worker. */
export type FlushOrder = { kind: "start"; path: string; everyMs: number } | { kind: "stop" };
/** What the worker tells the gateway. `code` is SQLite's; null says that a fault is over. */
export type FlushNews = { kind: "fault"; code: string | null } | { kind: "stopped" };

/** Size of the write-ahead log, in pages, from which on it is started anew; that holds writers up for one fsync. */
const RESTART_PAGES = 4096;
/** Free pages from which on the file is made smaller, and how many go at once. */
const FREE_PAGES_MAX = 4096;
const VACUUM_PAGES = 1024;

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
  let fault: string | null = null;
  const timer = setInterval(() => {
    const code = faultOf(() => flush(db));
    if (code !== fault) say({ kind: "fault", code });
    fault = code;
  }, everyMs);
  return () => {
    clearInterval(timer);
    faultOf(() => flush(db));
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

/** A checkpoint: fsync of the log, copy into the file, fsync of the file. The passive kind holds nobody up. */
function flush(db: Database): void {
  const passive = db.query<{ log: number }, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
  if ((passive?.log ?? 0) > RESTART_PAGES) db.query("PRAGMA wal_checkpoint(RESTART)").get();
  const free = db.query<{ freelist_count: number }, []>("PRAGMA freelist_count").get()?.freelist_count ?? 0;
  if (free > FREE_PAGES_MAX) db.run(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
}
