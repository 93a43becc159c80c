import { Worker } from "node:worker_threads";
import type { Log } from "#shared/log.ts";
import type { Spec } from "#shared/report.ts";
import { type ErrorType, GatewayError } from "../errors.ts";

/** Where reports are read from: the database itself, or a replica of it. */
export type ReportPlaces = { url: string; mainUrl: string };

export type ReportFormat = "json" | "csv";

/** What the thread is told. */
export type ReportOrder =
  | ({ kind: "open" } & ReportPlaces)
  | { kind: "run"; id: number; spec: Spec; nowMs: number; format: ReportFormat }
  | { kind: "close" };
/** What the thread tells. Texts cross threads a hundred times faster than the objects that they stand for. */
export type ReportAnswer =
  | { kind: "done"; id: number; text: string }
  | ({ kind: "failed"; id: number } & Failure)
  | { kind: "closed" };

/** `message` is for the client, `inside` for the log. */
export type Failure = { type: ErrorType; message?: string; inside?: string };

/** Answers checked specs, away from the event loop that answers calls. */
export type ReportWriter = {
  /**
   * The result of a checked spec (reports/spec.ts) as text, with `now` as the end of ranges that have none.
   * @throws GatewayError invalid_request for a range that cannot be; store_unavailable when Postgres is away or a query
   * takes too long; overloaded when too many reports wait already; reports_unavailable when the thread that makes
   * reports ended under it or is being ended.
   */
  write(spec: Spec, now: Date, format: ReportFormat): Promise<string>;
  /** Lets reports under way end, within 5 s. */
  close(): Promise<void>;
};

/** Reports running and waiting at once; more than any page asks for. */
const WAITING_MAX = 200;
/** Longer than the runner itself waits for anything: a thread that is silent for so long hangs. */
const DEADLINE_MS = 130_000;
/** A thread that has just died is not started again at once: what killed it may do so again. */
const RESTART_MS = 1_000;
const CLOSE_MS = 5_000;

type Waiting = { resolve(text: string): void; reject(error: GatewayError): void; timer: Timer };
type Thread = { worker: Worker; waiting: Map<number, Waiting>; closed: PromiseWithResolvers<void> };

/** The thread is started by the first report, and again should it die. */
export function reportWriter(places: ReportPlaces, log: Log): ReportWriter {
  let thread: Thread | null = null;
  let diedAtMs = Number.NEGATIVE_INFINITY;
  let asked = 0;
  let closing = false;

  function start(): Thread {
    const worker = new Worker(new URL("./report-thread.ts", import.meta.url));
    const started: Thread = { worker, waiting: new Map(), closed: Promise.withResolvers() };
    const end = (code: string) => {
      if (thread !== started) return;
      thread = null;
      if (!closing)
        log.error({ code }, "the thread that makes reports ended, and is started again when needed");
      diedAtMs = performance.now();
      for (const one of started.waiting.values()) {
        clearTimeout(one.timer);
        one.reject(new GatewayError("reports_unavailable"));
      }
      started.waiting.clear();
      started.closed.resolve();
    };
    worker.unref();
    worker.on("message", (answer: ReportAnswer) => settle(started, answer));
    worker.on("error", (error) => end(error instanceof Error ? error.name : "unknown"));
    worker.on("exit", () => end("it ended by itself"));
    tell(worker, { kind: "open", ...places });
    return started;
  }

  function write(spec: Spec, now: Date, format: ReportFormat): Promise<string> {
    const tooSoon = thread === null && performance.now() - diedAtMs < RESTART_MS;
    if (closing || tooSoon) throw new GatewayError("reports_unavailable");
    thread ??= start();
    const { worker, waiting } = thread;
    if (waiting.size >= WAITING_MAX) throw new GatewayError("overloaded");
    asked++;
    const id = asked;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // A thread that no longer answers is ended, which rejects what waits for it.
    const timer = setTimeout(() => void worker.terminate(), DEADLINE_MS);
    waiting.set(id, { resolve, reject, timer });
    tell(worker, { kind: "run", id, spec, nowMs: now.getTime(), format });
    return promise;
  }

  return {
    write: async (spec, now, format) => await write(spec, now, format),
    async close() {
      closing = true;
      const last = thread;
      if (!last) return;
      const giveUp = setTimeout(last.closed.resolve, CLOSE_MS);
      tell(last.worker, { kind: "close" });
      await last.closed.promise;
      clearTimeout(giveUp);
      await last.worker.terminate();
    },
  };
}

const tell = (worker: Worker, order: ReportOrder) => worker.postMessage(order);

function settle({ waiting, closed }: Thread, answer: ReportAnswer): void {
  if (answer.kind === "closed") {
    closed.resolve();
    return;
  }
  const one = waiting.get(answer.id);
  if (!one) return;
  waiting.delete(answer.id);
  clearTimeout(one.timer);
  if (answer.kind === "done") one.resolve(answer.text);
  else one.reject(errorOf(answer));
}

const errorOf = ({ type, message, inside }: Failure): GatewayError =>
  new GatewayError(type, message, inside === undefined ? undefined : new Error(inside));
