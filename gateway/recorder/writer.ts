import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { type RecordStore, refusedForData } from "../stores/records.ts";
import type { Source } from "./source.ts";
import type { SettledRow } from "./spool-file.ts";
import { isSpoolFault } from "./spool-lock.ts";

/** Rows of one transaction, and how long a smaller number waits for company. */
const BATCH_ROWS = 500;
const BATCH_MS = 50;
const BACKOFF_MS = { least: 200, spread: 300 };

export type WriterOptions = {
  store: RecordStore;
  /** Asked anew for every pass: orphans come and go. */
  sources: () => readonly Source[];
  log: Log;
  clock: Clock;
};

export type Writer = {
  /** More rows wait in a source. */
  wake(rows: number): void;
  /** Writes what there is without waiting for a fuller batch. */
  hurry(): void;
  /** Resolves after the next pass over the sources, or after `timeoutMs`. */
  pass(timeoutMs: number): Promise<void>;
  /** Ends the loop after the batch that is on its way, or after `timeoutMs`, and the connection. */
  stop(timeoutMs: number): Promise<void>;
};

/** What a pass leaves: full batches, nothing, rows that Postgres does not take, or a file that cannot be read. */
type Outcome = "more" | "idle" | "failed" | "unreadable";

/** Moves settled rows to Postgres, in batches, for as long as it takes. */
export function startWriter(options: WriterOptions): Writer {
  const move = batchMover(options);
  const rest = createGate();
  const passed = createGate();
  let waiting = 0;
  let hurried = false;
  let stopped = false;

  async function loop(): Promise<void> {
    while (!stopped) {
      waiting = 0;
      const outcome = await move();
      passed.open();
      if (stopped || outcome === "more") continue;
      if (outcome === "idle") await work();
      else await backoff();
    }
  }

  async function backoff(): Promise<void> {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, BACKOFF_MS.least + Math.random() * BACKOFF_MS.spread);
    });
  }

  /** Waits for rows, then a little for more of them. */
  async function work(): Promise<void> {
    if (waiting === 0 && !hurried) await rest.wait(null);
    if (!hurried && !stopped && waiting < BATCH_ROWS) await rest.wait(BATCH_MS);
    hurried = false;
  }

  const running = loop();
  return {
    wake(rows) {
      const idle = waiting === 0;
      waiting += rows;
      if (idle || waiting >= BATCH_ROWS) rest.open();
    },
    hurry() {
      hurried = true;
      rest.open();
    },
    pass: (timeoutMs) => passed.wait(timeoutMs),
    async stop(timeoutMs) {
      stopped = true;
      rest.open();
      const limit = createGate();
      await Promise.race([running, limit.wait(timeoutMs)]);
      limit.open();
      await options.store.close();
    },
  };
}

/** A pass takes one batch from every source, so that a large orphan does not hold up what is fresh. */
function batchMover(options: WriterOptions): () => Promise<Outcome> {
  const { sources, log } = options;
  const insertOrPark = inserter(options);
  const failing = new WeakSet<Source>();

  async function moveBatch(source: Source): Promise<Outcome> {
    try {
      const rows = source.take(BATCH_ROWS);
      if (rows.length === 0) return "idle";
      await insertOrPark(source, rows);
      source.drop(rows);
      if (failing.delete(source)) log.info({}, "records reach Postgres again");
      return rows.length === BATCH_ROWS ? "more" : "idle";
    } catch (error) {
      if (!failing.has(source)) log.warn(errorFields(error), "records wait in the spool");
      failing.add(source);
      // A file that cannot be read keeps nothing else waiting; Postgres fails all sources alike.
      return isSpoolFault(error) ? "unreadable" : "failed";
    }
  }

  return async () => {
    const outcomes = new Set<Outcome>();
    for (const source of sources()) {
      outcomes.add(await moveBatch(source));
      if (outcomes.has("failed")) return "failed";
    }
    if (outcomes.has("more")) return "more";
    return outcomes.has("unreadable") ? "unreadable" : "idle";
  };
}

/** Inserts rows; of those that Postgres refuses for their data, halving finds each, and parks it. */
function inserter({ store, log, clock }: WriterOptions) {
  async function insertOrPark(source: Source, rows: readonly SettledRow[]): Promise<void> {
    try {
      await store.insert(rows.map((row) => row.text));
    } catch (error) {
      const code = refusedForData(error);
      if (code === null) throw error;
      await divide(source, rows, code);
    }
  }

  async function divide(source: Source, rows: readonly SettledRow[], code: string): Promise<void> {
    const [first, ...others] = rows;
    if (!first) return;
    if (others.length === 0) {
      const id = await store.park(first.text, code, clock.now());
      source.park(first, code);
      log.error({ id, code }, "a record was refused by Postgres and parked");
      return;
    }
    const half = rows.length >> 1;
    await insertOrPark(source, rows.slice(0, half));
    await insertOrPark(source, rows.slice(half));
  }

  return insertOrPark;
}

/** Lets every waiter through when opened, or each after its own time; closed again at once. */
function createGate() {
  const waiters = new Set<() => void>();
  return {
    open(): void {
      for (const through of waiters) through();
    },
    wait(timeoutMs: number | null): Promise<void> {
      return new Promise((resolve) => {
        const timer = timeoutMs === null ? undefined : setTimeout(() => through(), timeoutMs);
        const through = () => {
          clearTimeout(timer);
          waiters.delete(through);
          resolve();
        };
        waiters.add(through);
      });
    },
  };
}
