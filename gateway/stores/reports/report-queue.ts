import { availableParallelism } from "node:os";
import { type ErrorType, GatewayError } from "../../errors.ts";

/** Reports made at once: never more than leave calls a core, where the database shares the machine. */
const AT_ONCE = Math.min(2, Math.max(1, availableParallelism() - 1));
/** Reports made and waiting; more than any page asks for. */
const WAITING_MAX = 200;
const WAIT_MAX_MS = 60_000;
/** Longer than the runner itself waits for anything: a thread that is silent for so long hangs. */
const DEADLINE_MS = 130_000;

const tooMany = () =>
  new GatewayError("overloaded", "Too many reports wait for their turn, or the database is slow to answer.");

type Waiting<Order> = {
  order: Order;
  timer: Timer;
  started: boolean;
  resolve(text: string): void;
  reject(error: GatewayError): void;
};

export type ReportQueue<Order> = {
  /** Resolves with the report's text. What waits for its turn is given up when `signal` says that nobody wants it. */
  add(order: Order, signal: AbortSignal | undefined): Promise<string>;
  settle(id: number, outcome: string | GatewayError): void;
  failAll(type: ErrorType): void;
  /** Resolves when nothing is made or waits any more. */
  idle(): Promise<void>;
};

/** Reports that wait for their turn with one maker, which is told to `start` one and is `hung` when it never ends. */
export function reportQueue<Order>(maker: {
  start(id: number, order: Order): void;
  hung(): void;
}): ReportQueue<Order> {
  const waiting = new Map<number, Waiting<Order>>();
  let asked = 0;

  const take = (id: number): Waiting<Order> | undefined => {
    const one = waiting.get(id);
    waiting.delete(id);
    clearTimeout(one?.timer);
    return one;
  };
  const giveUp = (id: number, error: GatewayError) => {
    if (waiting.get(id)?.started === false) take(id)?.reject(error);
  };
  // Those that are made are always the first.
  const startNext = () => {
    for (const [id, one] of [...waiting].slice(0, AT_ONCE)) {
      if (one.started) continue;
      one.started = true;
      clearTimeout(one.timer);
      one.timer = setTimeout(maker.hung, DEADLINE_MS);
      maker.start(id, one.order);
    }
  };

  return {
    async add(order, signal) {
      if (waiting.size >= WAITING_MAX) throw tooMany();
      const id = asked++;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const timer = setTimeout(() => giveUp(id, tooMany()), WAIT_MAX_MS);
      waiting.set(id, { order, timer, started: false, resolve, reject });
      signal?.addEventListener("abort", () => giveUp(id, new GatewayError("reports_unavailable")), {
        once: true,
      });
      startNext();
      return await promise;
    },
    settle(id, outcome) {
      const one = take(id);
      startNext();
      if (typeof outcome === "string") one?.resolve(outcome);
      else one?.reject(outcome);
    },
    failAll(type) {
      for (const id of [...waiting.keys()]) take(id)?.reject(new GatewayError(type));
    },
    async idle() {
      while (waiting.size > 0) await Bun.sleep(10);
    },
  };
}
