import { awayCause } from "#drizzle/reach.ts";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import type { Order } from "../stores/limits/rounds.ts";
import { type RecordStore, refusedForData } from "../stores/records.ts";
import type { Settlement } from "./segment.ts";
import { isSpoolFault } from "./segment-faults.ts";

/** A place where settlements wait for Postgres: the own segment, a dead process's, or memory. */
export type Source = {
  /** The oldest waiting rows, in the order of settlement. */
  take(rowsMax: number): Settlement[];
  /** `rows`, as taken, are in Postgres or parked. Never throws. */
  drop(rows: readonly Settlement[]): void;
  /** Keeps a row that Postgres refused for its data; `code` is the SQLSTATE. Never throws. */
  park(row: Settlement, code: string): void;
  /** Returns a function that is true once every row that waits now has been dropped. */
  mark(): () => boolean;
  /** When the oldest waiting row was settled, in milliseconds since 1970. */
  oldestAt(): number | null;
  backlog(): number;
};

/** Rows of one transaction, and how long fewer rows wait for more. */
const BATCH_ROWS = 500;
const BATCH_MS = 50;
const BACKOFF_MS = { least: 200, spread: 300 };

export type PostgresWriterOptions = Ambient & {
  order?: Order;
  store: RecordStore;
  /** Called for every pass: orphans come and go. */
  sources: () => readonly Source[];
};

export type PostgresWriter = ReturnType<typeof startPostgresWriter>;

/** How a pass ended: with full batches, with fewer rows, with Postgres failing, or with a file that cannot be read. */
type Outcome = "more" | "idle" | "failed" | "unreadable";

/** Moves settlements to Postgres in batches, and retries forever. */
export function startPostgresWriter(options: PostgresWriterOptions) {
  let cause: string | null = null;
  const move = batchMover(options, (error) => {
    cause = error === null ? null : awayCause(error);
  });
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
      if (outcome === "idle") await untilRows();
      else await backoff();
    }
  }

  async function backoff(): Promise<void> {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, BACKOFF_MS.least + Math.random() * BACKOFF_MS.spread);
    });
  }

  /** Waits for rows, then briefly for more of them. */
  async function untilRows(): Promise<void> {
    if (waiting === 0 && !hurried) await rest.wait(null);
    if (!hurried && !stopped && waiting < BATCH_ROWS) await rest.wait(BATCH_MS);
    hurried = false;
  }

  const running = loop();
  return {
    /** More rows wait in a source. */
    wake(rows: number): void {
      const idle = waiting === 0;
      waiting += rows;
      if (idle || waiting >= BATCH_ROWS) rest.open();
    },
    /** Writes the waiting rows without waiting for a fuller batch. */
    hurry(): void {
      hurried = true;
      rest.open();
    },
    /** Why the last batch failed; null: it did not, or for no known reason. */
    cause: () => cause,
    /** Resolves after the next pass over the sources, or after `timeoutMs`. */
    pass: (timeoutMs: number) => passed.wait(timeoutMs),
    /** Ends the loop after the batch in flight, or after `timeoutMs`, and closes the connection. */
    async stop(timeoutMs: number): Promise<void> {
      stopped = true;
      rest.open();
      const limit = createGate();
      await Promise.race([running, limit.wait(timeoutMs)]);
      limit.open();
      await options.store.close();
    },
  };
}

/** A pass takes one batch from every source, so that a large orphan does not hold up fresh rows. */
function batchMover(options: PostgresWriterOptions, ended: (error: unknown) => void): () => Promise<Outcome> {
  const { sources, log, order } = options;
  const insertOrPark = inserter(options);
  const failing = new WeakSet<Source>();

  async function moveBatch(source: Source): Promise<Outcome> {
    try {
      const rows = source.take(BATCH_ROWS);
      if (rows.length === 0) return "idle";
      await order?.told;
      await insertOrPark(source, rows);
      source.drop(rows);
      ended(null);
      if (failing.delete(source)) log.info({}, "records reach Postgres again");
      return rows.length === BATCH_ROWS ? "more" : "idle";
    } catch (error) {
      ended(error);
      const fields = { ...errorFields(error), cause: awayCause(error) ?? undefined };
      if (!failing.has(source)) log.warn(fields, "records are waiting in the spool");
      failing.add(source);
      // A file that cannot be read holds up no other source; a failing Postgres holds up all.
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

/** Inserts rows. Those that Postgres refuses for their data are found by bisection and parked. */
function inserter({ store, log, clock }: PostgresWriterOptions) {
  async function insertOrPark(source: Source, rows: readonly Settlement[]): Promise<void> {
    try {
      await store.insert(rows.map((row) => row.text));
    } catch (error) {
      const code = refusedForData(error);
      if (code === null) throw error;
      await divide(source, rows, code);
    }
  }

  async function divide(source: Source, rows: readonly Settlement[], code: string): Promise<void> {
    const [first, ...others] = rows;
    if (!first) return;
    if (others.length === 0) {
      const id = await store.park(first.text, code, clock.now());
      source.park(first, code);
      log.error({ id, code }, "Postgres refused a record, which was parked");
      return;
    }
    const half = rows.length >> 1;
    await insertOrPark(source, rows.slice(0, half));
    await insertOrPark(source, rows.slice(half));
  }

  return insertOrPark;
}

/** Opening it releases everyone who waits; each waits at most its own timeout. It closes again at once. */
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
