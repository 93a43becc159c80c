import { Worker } from "node:worker_threads";
import type { Spec } from "#shared/report.ts";
import { type ErrorType, GatewayError } from "../../errors.ts";
import { type PayloadRequest, resultsOf } from "../../reports/payload.ts";
import type { Format } from "../../reports/request.ts";
import { reportQueue } from "./report-queue.ts";

/** Where reports are read from: the database itself, or a replica of it; records also from ClickHouse, if there is one. */
export type ReportPlaces = { url: string; mainUrl: string; clickhouseUrl?: string | null };

/** A text to make: a whole payload, or one checked spec in a form; `nowMs` is the end of ranges that have none. */
type ReportOrder = { nowMs: number } & (
  | { what: "payload"; asked: PayloadRequest; gzip: boolean }
  | { what: "report"; spec: Spec; format: Format }
);

/** Messages to the thread, as JSON: passing objects takes the event loop several times as long. */
export type ReportTask =
  | ({ kind: "open" } & ReportPlaces)
  | { kind: "run"; id: number; order: ReportOrder }
  /** No caller waits any more: reports of it that have not started are dropped. */
  | { kind: "forget"; id: number }
  | { kind: "close" };

/** `message` is for the client, `inside` for the log. */
export type Failure = { type: ErrorType; message?: string; inside?: string };

/** The requested reports, as text or compressed. */
export type Made = string | Uint8Array<ArrayBuffer>;

/** Messages from the thread. Texts cross threads a hundred times faster than objects. */
export type ReportAnswer =
  | { kind: "done"; id: number; made: Made }
  | ({ kind: "failed"; id: number } & Failure)
  /** One report of a payload has failed, and the payload is made without its result. */
  | ({ kind: "missing" } & Failure)
  /** The thread is alive, and its work takes long. */
  | { kind: "progress" }
  /** The replica does not show the latest calls. */
  | { kind: "behind" }
  | { kind: "closed" };

const CLOSE_MS = 5_000;

export type ReportThread = {
  /** The ordered reports. When `signal` aborts, reports that have not started are dropped. */
  make(order: ReportOrder, signal: AbortSignal | undefined): Promise<Made>;
  /** Lets reports under way end, within 5 s. */
  close(): Promise<void>;
};

type Happenings = { behind(): void; missing(error: GatewayError): void; ended(code: string): void };

/** Starts the thread of `file`. Once it has ended, all that waits for it fails, and it is of no further use. */
export function openReportThread(file: URL, places: ReportPlaces, on: Happenings): ReportThread {
  const worker = new Worker(file);
  const closed = Promise.withResolvers<void>();
  const tell = (task: ReportTask) => worker.postMessage(JSON.stringify(task));
  const queue = reportQueue<ReportOrder, Made>({
    start: (id, order) => tell({ kind: "run", id, order }),
    forget: (id) => tell({ kind: "forget", id }),
    hung: () => void worker.terminate(),
  });
  let alive = true;
  const end = (code: string) => {
    if (!alive) return;
    alive = false;
    on.ended(code);
    queue.failAll("reports_unavailable");
    closed.resolve();
  };
  worker.unref();
  worker.on("message", (answer: ReportAnswer) => {
    if (answer.kind === "behind") on.behind();
    else if (answer.kind === "closed") closed.resolve();
    else if (answer.kind === "missing") on.missing(errorOf(answer));
    else if (answer.kind === "progress") queue.progress();
    else queue.settle(answer.id, answer.kind === "done" ? answer.made : errorOf(answer));
  });
  worker.on("error", (error) => end(error instanceof Error ? error.name : "unknown"));
  worker.on("exit", () => end("it ended by itself"));
  tell({ kind: "open", ...places });

  return {
    make: (order, signal) => queue.add(order, order.what === "payload" ? resultsOf(order.asked) : 1, signal),
    async close() {
      const patience = setTimeout(closed.resolve, CLOSE_MS);
      await Promise.race([closed.promise, queue.idle()]);
      tell({ kind: "close" });
      await closed.promise;
      clearTimeout(patience);
      await worker.terminate();
    },
  };
}

const errorOf = ({ type, message, inside }: Failure): GatewayError =>
  new GatewayError(type, message, inside === undefined ? undefined : new Error(inside));
