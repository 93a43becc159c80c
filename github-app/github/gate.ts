import { pause } from "#shared/backoff.ts";
import type { Clock } from "#shared/clock.ts";
import { waitMsOfAnswer } from "./wait.ts";

/** The gate that every call of one installation passes. */
export type Gate = {
  /** How long it stays closed, in milliseconds; 0: it is open. */
  waitMs(): number;
  /** Closes it until then, if it is not closed for longer already. All that wait in the queue are refused. */
  closeUntil(untilMs: number): void;
  /** The answer of `call`; while the gate is closed, an answer 429 of its own, and GitHub is not called. */
  pass(of: Passing, call: () => Promise<Response>): Promise<Response>;
};

type Passing = { isWrite: boolean; resource: Resource };

export type GateOptions = {
  clock: Clock;
  /** From the answer to a write until the next write, in milliseconds. */
  writeMs: number;
  /** Called when GitHub asked to wait, with the end of the wait. */
  closed?: (untilMs: number) => void;
};

/** GitHub accepts 100 at once and asks for few. */
export const CALLS_AT_ONCE = 8;

/**
 * At most eight calls at once (fewer where the limit has fewer left), writes one at a time and `writeMs` apart, and none
 * at all while GitHub asks to wait: its refusal closes the gate for the calls in the queue too, and so does the answer
 * that used up the limit.
 */
export function createGate({ clock, writeMs, closed }: GateOptions): Gate {
  const budget = createBudget();
  const queue = createQueue();
  /** Aborts when the gate closes, which ends the waits of all writers. */
  let closing = new AbortController();
  let untilMs = Number.NEGATIVE_INFINITY;
  let nextWriteMs = Number.NEGATIVE_INFINITY;
  /** Settles when the last write that asked for its turn is answered or refused. */
  let lastWrite: Promise<unknown> = Promise.resolve();

  const nowMs = () => clock.now().getTime();
  const waitMs = () => Math.max(0, untilMs - nowMs());
  const room = (of: Resource) => Math.min(CALLS_AT_ONCE, budget.left(of, nowMs()));
  const closeUntil = (until: number) => {
    if (until <= untilMs) return;
    untilMs = until;
    queue.refuse();
    closing.abort();
    closing = new AbortController();
    nextWriteMs = Number.NEGATIVE_INFINITY;
  };
  const send = async ({ isWrite, resource }: Passing, call: () => Promise<Response>) => {
    if (waitMs() > 0 || !(await queue.enter(resource, room))) return refusal(waitMs());
    try {
      const answer = await call().finally(() => {
        if (isWrite) nextWriteMs = clock.monotonicMs() + writeMs;
      });
      budget.note(resource, answer);
      const asked = await waitMsOfAnswer(answer, clock.now());
      if (asked === null) return answer;
      closeUntil(nowMs() + asked);
      closed?.(nowMs() + asked);
      return answer;
    } finally {
      queue.leave(room);
    }
  };
  const inTurn = (sent: () => Promise<Response>) => {
    const turn = lastWrite.then(async () => {
      const leftMs = nextWriteMs - clock.monotonicMs();
      if (leftMs > 0) await pause(leftMs, closing.signal);
      return await sent();
    });
    lastWrite = turn.catch(() => undefined);
    return turn;
  };
  return {
    waitMs,
    closeUntil,
    pass: async (of, call) => {
      if (waitMs() > 0) return refusal(waitMs());
      return await (of.isWrite ? inTurn(() => send(of, call)) : send(of, call));
    },
  };
}

type Waiting = { of: Resource; begin: (open: boolean) => void };
type Room = (of: Resource) => number;

/** Calls under way, and those that wait for room in the order in which they came. */
function createQueue() {
  let running = 0;
  let waiting: Waiting[] = [];
  return {
    enter: (of: Resource, room: Room): boolean | Promise<boolean> => {
      if (waiting.length > 0 || running >= room(of)) {
        return new Promise((begin) => waiting.push({ of, begin }));
      }
      running++;
      return true;
    },
    leave: (room: Room) => {
      running--;
      for (let next = waiting[0]; next && running < room(next.of); next = waiting[0]) {
        waiting.shift();
        running++;
        next.begin(true);
      }
    },
    refuse: () => {
      const refused = waiting;
      waiting = [];
      for (const { begin } of refused) begin(false);
    },
  };
}

/** As GitHub refuses, so that a caller need not tell the two apart. */
const refusal = (waitMs: number): Response =>
  Response.json(
    { message: "GitHub asked to wait." },
    { status: 429, headers: { "retry-after": String(Math.ceil(waitMs / 1000)) } },
  );

/** What GitHub counts together: REST and GraphQL each have a limit of their own. */
type Resource = "core" | "graphql";

/** How many calls GitHub still accepts in the current window, according to its answers. */
function createBudget() {
  const windows = new Map<Resource, { left: number; resetMs: number }>();
  return {
    /** How many calls may be under way at `nowMs` (Unix milliseconds): each may still be counted. */
    left(of: Resource, nowMs: number): number {
      const window = windows.get(of);
      return window && window.resetMs > nowMs ? window.left : Number.POSITIVE_INFINITY;
    },
    /** Reads the limit that an answer shows. */
    note(of: Resource, { headers }: Response): void {
      const [remaining, reset] = ["remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`));
      if (!remaining || !reset) return;
      const resetMs = Number(reset) * 1000;
      const known = windows.get(of);
      if (known && known.resetMs > resetMs) return;
      // Answers may overtake each other; within a window the least is the latest.
      const isSame = known?.resetMs === resetMs;
      const left = isSame ? Math.min(known.left, Number(remaining)) : Number(remaining);
      windows.set(of, { left, resetMs });
    },
  };
}
