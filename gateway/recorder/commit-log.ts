import type { Ambient } from "#shared/clock.ts";
import { isBusy } from "#shared/file-lock.ts";
import { errorFields } from "#shared/log.ts";
import { GatewayError } from "../errors.ts";
import { diskHeadroom } from "./disk-headroom.ts";
import type { Entry, OwnSegment } from "./own-segment.ts";
import { createUnwritten, type Waiting } from "./unwritten.ts";

const TICK_MS = 100;
/** The flush worker locks the file for the time of an fsync now and then. */
const BUSY_RETRY_MS = 1;
const FAULT_LOG_EVERY_MS = 10_000;

export type CommitLogOptions = Ambient & {
  segment: OwnSegment;
  directory: string;
  bytesMax: number;
  /** The number of settlements that now wait for Postgres. */
  onSettled: (rows: number) => void;
};

export type CommitLog = ReturnType<typeof startCommitLog>;

/**
 * Commits the entries of one turn of the event loop in one transaction. While the disk refuses them, intents are
 * rejected and everything else is held in memory and tried again every 100 ms; a success ends that state.
 */
export function startCommitLog(options: CommitLogOptions) {
  const { segment } = options;
  const headroom = diskHeadroom(options);
  const unwritten = createUnwritten(segment.forget);
  const health = writeHealth(options, headroom.measureDisk);
  let refusing = false;
  let syncFailing = false;

  /** Commits `waiting` in one transaction, or returns the error. */
  function commit(waiting: readonly Waiting[]): unknown {
    try {
      segment.write(waiting.map(({ entry }) => entry));
    } catch (error) {
      return error;
    }
    health.good();
    let settled = 0;
    for (const { entry, done } of waiting) {
      headroom.count(entry);
      if (entry.kind === "settlement") settled += 1;
      done();
    }
    if (settled > 0) options.onSettled(settled);
    return null;
  }

  function fail(turn: readonly Waiting[], error: unknown): void {
    health.bad(error, turn.length);
    for (const waiting of turn) {
      if (waiting.entry.kind === "intent")
        waiting.failed(new GatewayError("cannot_record", undefined, error));
      else unwritten.hold(waiting);
    }
    const rows = unwritten.source.backlog();
    if (rows > 0) options.onSettled(rows);
  }

  const turns = groupByTurn(commit, fail);
  const timer = setInterval(() => {
    sweep(segment);
    headroom.measure();
    unwritten.retry(commit);
    if (health.failing() && unwritten.count() === 0) commit([PROBE]);
  }, TICK_MS);
  timer.unref();

  return {
    /**
     * Resolves when the entry is committed. An intent that the disk refuses rejects with `cannot_record`; any other
     * entry is then held in memory, and its promise resolves after 2 s at the latest.
     */
    append: turns.append,
    /** False while the spool is full or failing, and after `refuse`. */
    accepting: () => !refusing && !syncFailing && !health.failing() && headroom.left(),
    usedBytes: headroom.usedBytes,
    /** Resolves when everything appended so far is committed or held in memory. */
    appended: turns.appended,
    /** Settlements that the disk refused: Postgres may take them straight from memory. */
    unwritten: unwritten.source,
    /** Whether the file's changes reach the disk (flusher.ts). */
    syncFailing: (failing: boolean) => {
      syncFailing = failing;
    },
    /** Refuses intents from now on. */
    refuse: () => {
      refusing = true;
    },
    /** Ends the timer, after one more try to write what is held in memory. */
    stop: () => {
      clearInterval(timer);
      unwritten.retry(commit);
      sweep(segment);
      const lost = unwritten.source.backlog();
      if (lost > 0) options.log.error({ records: lost }, "records of finished calls could not be written");
    },
  };
}

const PROBE: Waiting = { entry: { kind: "probe" }, done: () => {}, failed: () => {} };

function sweep(segment: OwnSegment): void {
  try {
    segment.sweep();
  } catch {
    // The next tick tries again.
  }
}

/** Collects the entries of a turn of the event loop, and has them committed at its end. */
function groupByTurn(
  commit: (waiting: readonly Waiting[]) => unknown,
  fail: (waiting: readonly Waiting[], error: unknown) => void,
) {
  let queue: Waiting[] = [];
  let scheduled = false;

  function commitQueue(): void {
    scheduled = false;
    const turn = queue;
    queue = [];
    if (turn.length === 0) return;
    const error = commit(turn);
    if (isBusy(error)) {
      queue = turn;
      scheduled = true;
      setTimeout(commitQueue, BUSY_RETRY_MS);
    } else if (error !== null) {
      fail(turn, error);
    }
  }

  return {
    append(entry: Entry): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ entry, done: resolve, failed: reject });
      if (!scheduled) {
        scheduled = true;
        setImmediate(commitQueue);
      }
      return promise;
    },
    async appended(): Promise<void> {
      while (queue.length > 0) await new Promise<void>((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
    },
  };
}

/** Whether the last write succeeded. Faults are logged at most every ten seconds. */
function writeHealth({ log, clock }: Pick<CommitLogOptions, "log" | "clock">, onFault: () => void) {
  let failing = false;
  let loggedMs = Number.NEGATIVE_INFINITY;
  return {
    failing: () => failing,
    good: () => {
      if (failing) log.info({}, "the spool takes records again");
      failing = false;
    },
    bad: (error: unknown, records: number) => {
      if (!failing) onFault();
      failing = true;
      if (clock.monotonicMs() - loggedMs < FAULT_LOG_EVERY_MS) return;
      loggedMs = clock.monotonicMs();
      log.error({ ...errorFields(error), records }, "the spool cannot be written");
    },
  };
}
