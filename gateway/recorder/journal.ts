import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { GatewayError } from "../errors.ts";
import type { Entry } from "./entry.ts";
import { createHeld, type Waiting } from "./held.ts";
import type { Drained } from "./open-turns.ts";
import { roomOf } from "./room.ts";
import type { Source } from "./source.ts";
import { isBusy } from "./spool-lock.ts";
import type { TurnLog } from "./turn-log.ts";

const TICK_MS = 100;
/** The flush worker has the file for the time of an fsync now and then. */
const BUSY_RETRY_MS = 1;
const FAULT_LOG_EVERY_MS = 10_000;
/** How long the heads keep what is needed for longer, at least: Postgres has most of it far sooner. At most, twice that. */
const DRAIN_MS = 250;

export type JournalOptions = {
  file: TurnLog;
  directory: string;
  bytesMax: number;
  log: Log;
  clock: Clock;
  /** Rows have been settled and wait for Postgres. */
  onSettled: (rows: number) => void;
};

export type Journal = {
  /**
   * Resolves when the entry is written. Rejects with `cannot_record` for an intent that the disk does not take; any
   * other entry is then held in memory, and its promise resolves after 2 s at the latest.
   */
  add(entry: Entry): Promise<void>;
  /** False while the spool is full or failing, and once stopped. */
  accepting(): boolean;
  usedBytes(): number;
  /** Resolves when everything added so far has been written or is held. */
  turn(): Promise<void>;
  /** Ends of calls that the disk did not take, so that they can go to Postgres straight from memory. */
  held: Source;
  /** Refuses intents from now on. */
  refuse(): void;
  /** Ends the timers; what is still held is given a last try. */
  stop(): void;
};

/**
 * Writes entries to the spool file, those of one turn of the event loop at once. When the disk takes no more, intents
 * are refused and everything else goes to the heads, or is held in memory and tried again; a success ends that state.
 */
export function startJournal(options: JournalOptions): Journal {
  const { file } = options;
  const room = roomOf(file, options.directory, options.bytesMax);
  const held = createHeld();
  const health = healthOf(options.log, options.clock, room.look);
  let refusing = false;

  /** Writes `waiting` in one transaction, or returns why not. */
  function attempt(waiting: readonly Waiting[]): unknown {
    try {
      // The heads say nothing of the disk.
      if (file.write(waiting.map((one) => one.entry))) health.good();
    } catch (error) {
      return error;
    }
    drains.look();
    for (const { entry, done } of waiting) {
      room.count(entry);
      done();
    }
    const settled = waiting.filter(({ entry }) => entry.kind === "settle").length;
    if (settled > 0) options.onSettled(settled);
    return null;
  }

  function fail(turn: readonly Waiting[], error: unknown): void {
    health.bad(error, turn.length);
    for (const waiting of turn) {
      if (waiting.entry.kind === "intent")
        waiting.failed(new GatewayError("cannot_record", undefined, error));
      else held.hold(waiting);
    }
    if (held.source.backlog() > 0) options.onSettled(held.source.backlog());
  }

  const drains = drainInTime(file, health);
  const turns = commitTurns(attempt, fail);
  const retry = () => {
    held.retry(attempt);
    if (held.size() === 0 && health.failing()) attempt([PROBE]);
  };
  const timer = setInterval(() => {
    sweep(file);
    room.measure();
    if (health.failing() || held.size() > 0) retry();
  }, TICK_MS);
  timer.unref();

  return {
    add: turns.add,
    accepting: () => !refusing && !health.failing() && room.left(),
    usedBytes: room.usedBytes,
    turn: turns.over,
    held: held.source,
    refuse: () => {
      refusing = true;
    },
    stop: () => {
      clearInterval(timer);
      held.retry(attempt);
      drains.stop();
      sweep(file);
      const lost = held.source.backlog();
      if (lost > 0) options.log.error({ records: lost }, "ends of calls could be written nowhere");
    },
  };
}

const PROBE: Waiting = { entry: { kind: "probe" }, done: () => {}, failed: () => {} };

function sweep(file: TurnLog): void {
  try {
    file.sweep();
  } catch {
    // What is not needed any more goes at the next tick.
  }
}

/** Has turns of the heads stored in the file when these are full enough, or hold something for its time. */
function drainInTime(file: TurnLog, health: Health) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  function drain(which: Drained): void {
    try {
      if (file.drain(which)) health.good();
      if (which === "old" && file.waiting() !== "nothing") later(DRAIN_MS);
    } catch (error) {
      if (!isBusy(error)) health.bad(error);
      later(isBusy(error) ? BUSY_RETRY_MS : TICK_MS);
    }
  }

  function later(ms: number): void {
    if (stopped) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      drain("old");
    }, ms);
  }

  return {
    look(): void {
      const waiting = file.waiting();
      if (waiting === "enough" && !health.failing()) drain("room");
      if (waiting !== "nothing") later(DRAIN_MS);
    },
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      drain("all");
    },
  };
}

/** Collects the entries of a turn of the event loop and has them written at its end. */
function commitTurns(
  attempt: (waiting: readonly Waiting[]) => unknown,
  fail: (waiting: readonly Waiting[], error: unknown) => void,
) {
  let queue: Waiting[] = [];
  let scheduled = false;

  function commit(): void {
    scheduled = false;
    const turn = queue;
    queue = [];
    if (turn.length === 0) return;
    const error = attempt(turn);
    if (isBusy(error)) {
      queue = turn;
      scheduled = true;
      setTimeout(commit, BUSY_RETRY_MS);
    } else if (error !== null) {
      fail(turn, error);
    }
  }

  return {
    add(entry: Entry): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ entry, done: resolve, failed: reject });
      if (!scheduled) {
        scheduled = true;
        setImmediate(commit);
      }
      return promise;
    },
    async over(): Promise<void> {
      while (queue.length > 0) await new Promise<void>((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
    },
  };
}

type Health = ReturnType<typeof healthOf>;

/** Whether the last write went well. Faults are logged at most every ten seconds. */
function healthOf(log: Log, clock: Clock, onFault: () => void) {
  let failing = false;
  let loggedMs = Number.NEGATIVE_INFINITY;
  return {
    failing: () => failing,
    good: () => {
      if (failing) log.info({}, "the spool takes records again");
      failing = false;
    },
    bad: (error: unknown, records?: number) => {
      if (!failing) onFault();
      failing = true;
      if (clock.monotonicMs() - loggedMs < FAULT_LOG_EVERY_MS) return;
      loggedMs = clock.monotonicMs();
      log.error({ ...errorFields(error), ...(records && { records }) }, "the spool cannot be written");
    },
  };
}
