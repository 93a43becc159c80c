import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { GatewayError } from "../errors.ts";
import { openRecordStore } from "../stores/records.ts";
import {
  observationText,
  type SessionEnd,
  sessionEndText,
  type ToolObservation,
} from "../stores/tools/tool-calls.ts";
import { type Flusher, startFlusher } from "./flusher.ts";
import { type Journal, startJournal } from "./journal.ts";
import { createOrphans, type Orphans } from "./orphans.ts";
import { createSpool, type Spool } from "./own-spool.ts";
import type { Source } from "./source.ts";
import type { TurnLog } from "./turn-log.ts";
import { startWriter, type Writer } from "./writer.ts";

export type Recorder = {
  /**
   * Durable before it resolves (survives kill -9): the call is about to be sent to a provider. Rejects with
   * `GatewayError("cannot_record")` when the spool is full or failing. `row` is complete but for its ending: exactly
   * what is to be stored if nothing more is heard of the call.
   */
  open(row: RequestRow): Promise<void>;
  /**
   * The final row of a call; durable before it resolves. Never rejects: a reserve is kept for settles, and a row
   * that the disk does not take is held in memory, for Postgres or for the disk's return, while the promise
   * resolves after 2 s at the latest. The first settle of an id wins. Works also for calls never opened.
   */
  settle(row: RequestRow): Promise<void>;
  /**
   * `open` and `settle` for a call of a tool: what stands in an opened sighting is stored if nothing more is heard of
   * it, and the settled one is merged with what others see of the call.
   */
  openTool(sighting: ToolObservation): Promise<void>;
  settleTool(sighting: ToolObservation): Promise<void>;
  /** Durable before it resolves, like `settle`. */
  endSession(end: SessionEnd): Promise<void>;
  /** False when nothing can be recorded: readiness. */
  accepting(): boolean;
  stats(): RecorderStats;
  /** Calls opened and not yet settled, and how much has been settled since the start: only memory is asked. */
  calls(): { open: number; settled: number };
  /**
   * Resolves when everything settled so far is in Postgres or parked, or rejects after `timeoutMs`. Without `hurry` it
   * waits for the batches that are written anyway.
   */
  flushed(timeoutMs: number, hurry?: boolean): Promise<void>;
  /** Stops taking calls, writes what it can within `timeoutMs`, leaves the rest in the spool. */
  close(timeoutMs: number): Promise<void>;
};

type RecorderStats = {
  /** Settled rows that are not yet in Postgres. */
  backlog: number;
  /** Rows that Postgres refused for their data, kept in the spool. */
  parked: number;
  bytes: number;
  /** Age of the oldest settled row that is not yet in Postgres. */
  oldestMs: number | null;
  /** Calls opened and not yet settled. */
  open: number;
};

export type RecorderOptions = {
  /** Own to the gateway, on a local file system; several processes may share it. */
  directory: string;
  databaseUrl: string;
  /** `SPOOL_SYNC`: "full" waits for the disk at every record, "normal" flushes it every 100 ms. */
  sync: "normal" | "full";
  bytesMax: number;
  log: Log;
  clock: Clock;
};

/** How often the directory is searched for files of processes that have died. */
const ADOPT_EVERY_MS = 2000;
/** What a batch on its way gets beyond the time for writing the rest. */
const LAST_BATCH_MS = 1000;

/** Starts recording into a new spool file in `directory`, and takes over the files of processes that died. */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const { log, clock } = options;
  const { spool, flusher } = startSpool(options);
  const own = { wake: (_rows: number) => {} };
  const journal = startJournal({ ...options, file: spool.file, onSettled: (rows) => own.wake(rows) });
  const orphans = createOrphans({ ...options, keepParked: (row) => journal.add({ kind: "park", ...row }) });
  const fresh = freshSource(spool.file, journal, clock);
  const sources = (): Source[] => [fresh, journal.held, ...orphans.sources()];
  const store = openRecordStore(options.databaseUrl);
  const writer = startWriter({ store, sources, log, clock });
  own.wake = writer.wake;
  const stopAdopting = adoptEvery(orphans, writer, log);
  const flushed = flushedBy({ sources, journal, writer, clock });
  let closing: Promise<void> | null = null;
  let closed = false;

  async function close(timeoutMs: number): Promise<void> {
    journal.refuse();
    stopAdopting();
    await flushed(timeoutMs).catch(() =>
      log.warn({ rows: backlogOf(sources()) }, "records stay in the spool"),
    );
    await writer.stop(LAST_BATCH_MS);
    await journal.turn();
    closed = true;
    journal.stop();
    await flusher.stop();
    await orphans.tidy();
    orphans.close();
    await spool.leave();
  }

  function open(id: string, text: string): Promise<void> {
    if (!journal.accepting()) return Promise.reject(new GatewayError("cannot_record"));
    return journal.add({ kind: "intent", id, text });
  }

  function settle(id: string, text: string): Promise<void> {
    if (closed) {
      log.error({ id }, "a call ended after its recorder was closed");
      return Promise.resolve();
    }
    return journal.add({ kind: "settle", id, text, at: clock.now().getTime() });
  }

  return {
    open: (row) => open(row.id, JSON.stringify(row)),
    settle: (row) => settle(row.id, JSON.stringify(row)),
    openTool: (sighting) => open(sighting.id, observationText(sighting)),
    settleTool: (sighting) => settle(sighting.id, observationText(sighting)),
    endSession: (end) => settle(newId(), sessionEndText(end)),
    accepting: journal.accepting,
    stats: () => statsOf({ sources: sources(), spool, journal, orphans, clock }),
    calls: () => ({ open: spool.file.running(), settled: spool.file.lastSeq() }),
    flushed,
    close: (timeoutMs) => {
      closing ??= close(timeoutMs);
      return closing;
    },
  };
}

/** The own spool file, and what brings it to the disk. */
function startSpool(options: RecorderOptions): { spool: Spool; flusher: Flusher } {
  const late = { sync: (_then: () => void) => {} };
  const spool = createSpool({ ...options, synced: (then) => late.sync(then) });
  const flusher = startFlusher(spool.path, spool.headPath, options.log);
  late.sync = flusher.sync;
  return { spool, flusher };
}

/** The rows in this process's own file. */
function freshSource(file: TurnLog, journal: Journal, clock: Clock): Source {
  let cursor = 0;
  return {
    take: (rowsMax) => file.settledAfter(cursor, rowsMax),
    drop: (rows) => {
      cursor = rows.at(-1)?.seq ?? cursor;
      void journal.add({ kind: "drop", through: cursor });
    },
    park: (row, code) => void journal.add({ kind: "park", text: row.text, code, at: clock.now().getTime() }),
    mark: () => {
      const last = file.lastSeq();
      return () => cursor >= last;
    },
    oldestAt: () => file.oldestAt(cursor),
    backlog: () => file.lastSeq() - cursor,
  };
}

/** Looks for files of processes that have died, now and every 2 s, and deletes those that are done with. */
function adoptEvery(orphans: Orphans, writer: Writer, log: Log): () => void {
  const adopt = () => {
    try {
      const rows = orphans.adopt();
      if (rows > 0) writer.wake(rows);
    } catch (error) {
      log.error(errorFields(error), "the spool directory cannot be read");
    }
    orphans.tidy().catch((error) => log.error(errorFields(error), "a spool file cannot be deleted"));
  };
  adopt();
  const timer = setInterval(adopt, ADOPT_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

type FlushParts = { sources: () => readonly Source[]; journal: Journal; writer: Writer; clock: Clock };

function flushedBy({ sources, journal, writer, clock }: FlushParts): Recorder["flushed"] {
  return async (timeoutMs, hurry = true) => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const over = async () => {
      const gone = sources().map((source) => source.mark());
      while (!gone.every((isGone) => isGone())) {
        const leftMs = deadlineMs - clock.monotonicMs();
        if (leftMs <= 0) throw new Error("records are still on their way to Postgres");
        const pass = writer.pass(leftMs);
        if (hurry) writer.hurry();
        await pass;
      }
    };
    await journal.turn();
    const wasHolding = journal.held.backlog() > 0;
    await over();
    // What was held may have gone to the file instead.
    if (wasHolding) await over();
  };
}

const backlogOf = (sources: readonly Source[]) => sources.reduce((sum, source) => sum + source.backlog(), 0);

type StatsParts = {
  sources: readonly Source[];
  spool: Spool;
  journal: Journal;
  orphans: Orphans;
  clock: Clock;
};

function statsOf({ sources, spool, journal, orphans, clock }: StatsParts): RecorderStats {
  const settledAt = sources.map((source) => source.oldestAt()).filter((at) => at !== null);
  const nowMs = clock.now().getTime();
  return {
    backlog: backlogOf(sources),
    parked: spool.file.parkedCount() + orphans.parked(),
    bytes: journal.usedBytes() + orphans.usedBytes(),
    oldestMs: settledAt.length === 0 ? null : Math.max(0, nowMs - Math.min(...settledAt)),
    open: spool.file.running(),
  };
}
