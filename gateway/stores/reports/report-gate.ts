import { availableParallelism } from "node:os";
import { type ErrorType, GatewayError } from "../../errors.ts";

/** Reports made at once: never more than leave calls a core, where the database shares the machine. */
export const AT_ONCE = Math.min(2, Math.max(1, availableParallelism() - 1));
/** Reports made and waiting; more than any page asks for. */
const REPORTS_MAX = 200;
const WAIT_MAX_MS = 60_000;
/** Longer than a report may take: a maker that is silent about an order for this long hangs. */
const SILENT_MAX_MS = 130_000;

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

type Maker<Order> = { start(id: number, order: Order): void; forget(id: number): void; hung(): void };

/**
 * The only gate of reports: admits orders to one maker. Calls `start` for an order, `forget` for a started one that is
 * no longer wanted, and `hung` if the maker stays silent for too long. `atOnce` reports are made at a time; an order of
 * several takes all the turns that it has reports for.
 */
export function reportGate<Order, Made>(maker: Maker<Order>, atOnce = AT_ONCE) {
  const waiting = new Map<number, Waiting<Order, Made>>();
  let asked = 0;

  const take = (id: number): Waiting<Order, Made> | undefined => {
    const one = waiting.get(id);
    waiting.delete(id);
    clearTimeout(one?.timer);
    return one;
  };
  const giveUp = (id: number, error: GatewayError) => {
    if (waiting.get(id)?.started) return maker.forget(id);
    take(id)?.reject(error);
    startNext();
  };
  // In order: those that are made are always the first.
  const startNext = () => {
    let free = atOnce;
    for (const [id, one] of waiting) {
      free -= Math.min(one.reports, atOnce);
      if (free < 0) return;
      if (one.started) continue;
      one.started = true;
      clearTimeout(one.timer);
      one.timer = setTimeout(maker.hung, SILENT_MAX_MS);
      maker.start(id, one.order);
    }
  };

  return {
    /** Resolves with the result of an order of `reports` reports. When `signal` aborts, a waiting order is dropped. */
    async add(order: Order, reports: number, signal: AbortSignal | undefined): Promise<Made> {
      if (signal?.aborted) throw new GatewayError("reports_unavailable");
      const all = [...waiting.values()].reduce((sum, one) => sum + one.reports, reports);
      if (all > REPORTS_MAX) throw tooMany();
      const id = asked++;
      const { promise, resolve, reject } = Promise.withResolvers<Made>();
      const timer = setTimeout(() => giveUp(id, tooMany()), WAIT_MAX_MS);
      waiting.set(id, { order, reports, timer, started: false, resolve, reject });
      const unwanted = () => giveUp(id, new GatewayError("reports_unavailable"));
      signal?.addEventListener("abort", unwanted, { once: true });
      startNext();
      return await promise;
    },
    /** The maker is alive, and an order takes long. */
    progress: (id: number) => void waiting.get(id)?.timer.refresh(),
    settle(id: number, outcome: Made | GatewayError): void {
      const one = take(id);
      startNext();
      if (outcome instanceof GatewayError) one?.reject(outcome);
      else one?.resolve(outcome);
    },
    failAll(type: ErrorType): void {
      for (const id of [...waiting.keys()]) take(id)?.reject(new GatewayError(type));
    },
    /** Resolves when no order runs or waits. */
    async idle(): Promise<void> {
      while (waiting.size > 0) await Bun.sleep(10);
    },
  };
}
