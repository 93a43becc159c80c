import { availableParallelism } from "node:os";
import { type ErrorType, GatewayError } from "../../errors.ts";

/** Orders, and reports, made at once: never more than leave calls a core, where the database shares the machine. */
export const AT_ONCE = Math.min(2, Math.max(1, availableParallelism() - 1));
/** Reports made and waiting; more than any page asks for. */
const WAITING_MAX = 200;
const WAIT_MAX_MS = 60_000;
/** Longer than the runner waits for anything: a maker that is silent for so long hangs. */
const DEADLINE_MS = 130_000;

const tooMany = () =>
  new GatewayError("overloaded", "Too many reports are waiting, or the database is slow to answer.");

type Waiting<Order, Made> = {
  order: Order;
  reports: number;
  timer: Timer;
  started: boolean;
  resolve(made: Made): void;
  reject(error: GatewayError): void;
};

export type ReportQueue<Order, Made> = {
  /** Resolves with the result of so many `reports`. When `signal` aborts, what still waits is dropped. */
  add(order: Order, reports: number, signal: AbortSignal | undefined): Promise<Made>;
  /** The maker is alive, and its work takes long. */
  progress(): void;
  settle(id: number, outcome: Made | GatewayError): void;
  failAll(type: ErrorType): void;
  /** Resolves when no order runs or waits. */
  idle(): Promise<void>;
};

/**
 * A queue of orders for one maker. It calls `start` for an order, `forget` for a started one that is no longer wanted, and
 * `hung` if the maker stays silent for too long.
 */
export function reportQueue<Order, Made>(
  maker: { start(id: number, order: Order): void; forget(id: number): void; hung(): void },
  { atOnce = AT_ONCE }: { atOnce?: number } = {},
): ReportQueue<Order, Made> {
  const waiting = new Map<number, Waiting<Order, Made>>();
  let asked = 0;
  let reports = 0;

  const take = (id: number): Waiting<Order, Made> | undefined => {
    const one = waiting.get(id);
    if (waiting.delete(id)) reports -= one?.reports ?? 0;
    clearTimeout(one?.timer);
    return one;
  };
  const giveUp = (id: number, error: GatewayError) => {
    if (waiting.get(id)?.started) return maker.forget(id);
    take(id)?.reject(error);
    startNext();
  };
  // Those that are made are always the first.
  const startNext = () => {
    for (const [id, one] of [...waiting].slice(0, atOnce)) {
      if (one.started) continue;
      one.started = true;
      clearTimeout(one.timer);
      one.timer = setTimeout(maker.hung, DEADLINE_MS);
      maker.start(id, one.order);
    }
  };

  return {
    async add(order, of, signal) {
      if (signal?.aborted) throw new GatewayError("reports_unavailable");
      if (reports + of > WAITING_MAX) throw tooMany();
      const id = asked++;
      const { promise, resolve, reject } = Promise.withResolvers<Made>();
      const timer = setTimeout(() => giveUp(id, tooMany()), WAIT_MAX_MS);
      reports += of;
      waiting.set(id, { order, reports: of, timer, started: false, resolve, reject });
      signal?.addEventListener("abort", () => giveUp(id, new GatewayError("reports_unavailable")), {
        once: true,
      });
      startNext();
      return await promise;
    },
    // Also the timers of other orders: orders take turns, so that one may wait for all earlier ones.
    progress() {
      for (const { started, timer } of waiting.values()) if (started) timer.refresh();
    },
    settle(id, outcome) {
      const one = take(id);
      startNext();
      if (outcome instanceof GatewayError) one?.reject(outcome);
      else one?.resolve(outcome);
    },
    failAll(type) {
      for (const id of [...waiting.keys()]) take(id)?.reject(new GatewayError(type));
    },
    async idle() {
      while (waiting.size > 0) await Bun.sleep(10);
    },
  };
}
