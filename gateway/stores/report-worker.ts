import { Worker } from "node:worker_threads";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import type { Spec } from "#shared/report.ts";
import { type ErrorType, GatewayError } from "../errors.ts";
import type { Format } from "../reports/request.ts";

/** Where reports are read from: the database itself, or a replica of it. */
export type ReportPlaces = { url: string; mainUrl: string };

/** What the thread is told. */
export type ReportOrder =
  | ({ kind: "open" } & ReportPlaces)
  | { kind: "run"; id: number; spec: Spec; nowMs: number; format: Format }
  | { kind: "close" };
/** What the thread tells. Texts cross threads a hundred times faster than the objects that they stand for. */
export type ReportAnswer =
  | { kind: "done"; id: number; text: string }
  | ({ kind: "failed"; id: number } & Failure)
  /** The replica does not show the latest calls. */
  | { kind: "behind" }
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
  write(spec: Spec, now: Date, format: Format): Promise<string>;
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
const SAY_EVERY_MS = 60_000;

type Waiting = { resolve(text: string): void; reject(error: GatewayError): void; timer: Timer };
type Thread = { worker: Worker; waiting: Map<number, Waiting>; closed: PromiseWithResolvers<void> };

const THREAD = new URL("./report-thread.ts", import.meta.url);

/** The thread is started by the first report, and again should it die. */
export function reportWriter(
  places: ReportPlaces,
  { log, clock }: { log: Log; clock: Clock },
  threadFile = THREAD,
): ReportWriter {
  let thread: Thread | null = null;
  let diedAtMs = Number.NEGATIVE_INFINITY;
  let saidBehindMs = Number.NEGATIVE_INFINITY;
  let asked = 0;
  let closing = false;

  const behind = () => {
    if (clock.monotonicMs() - saidBehindMs < SAY_EVERY_MS) return;
    saidBehindMs = clock.monotonicMs();
    log.warn({}, "the replica for reports lags behind, so that reports do not show the latest calls");
  };
  const ended = (code: string) => {
    thread = null;
    diedAtMs = clock.monotonicMs();
    if (!closing)
      log.error({ code }, "the thread that makes reports ended, and is started again when needed");
  };

  function write(spec: Spec, now: Date, format: Format): Promise<string> {
    const tooSoon = thread === null && clock.monotonicMs() - diedAtMs < RESTART_MS;
    if (closing || tooSoon) throw new GatewayError("reports_unavailable");
    thread ??= startThread(threadFile, places, { behind, ended });
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

type Happenings = { behind(): void; ended(code: string): void };

function startThread(file: URL, places: ReportPlaces, on: Happenings): Thread {
  const worker = new Worker(file);
  const thread: Thread = { worker, waiting: new Map(), closed: Promise.withResolvers() };
  let alive = true;
  const end = (code: string) => {
    if (!alive) return;
    alive = false;
    on.ended(code);
    for (const one of thread.waiting.values()) {
      clearTimeout(one.timer);
      one.reject(new GatewayError("reports_unavailable"));
    }
    thread.waiting.clear();
    thread.closed.resolve();
  };
  worker.unref();
  worker.on("message", (answer: ReportAnswer) => {
    if (answer.kind === "behind") on.behind();
    else settle(thread, answer);
  });
  worker.on("error", (error) => end(error instanceof Error ? error.name : "unknown"));
  worker.on("exit", () => end("it ended by itself"));
  tell(worker, { kind: "open", ...places });
  return thread;
}

const tell = (worker: Worker, order: ReportOrder) => worker.postMessage(order);

function settle({ waiting, closed }: Thread, answer: Exclude<ReportAnswer, { kind: "behind" }>): void {
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
