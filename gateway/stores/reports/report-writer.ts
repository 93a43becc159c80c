import { closeSync, openSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import { Result, type Spec } from "#shared/report.ts";
import { fits } from "#shared/schema.ts";
import { GatewayError } from "../../errors.ts";
import { type PayloadRequest, resultsOf } from "../../reports/payload.ts";
import type { Format } from "../../reports/request.ts";
import type { Copies } from "../clickhouse/copies.ts";
import { answersByVersion } from "./answers-by-version.ts";
import type { RecordVersion } from "./record-version.ts";
import { reportGate } from "./report-gate.ts";
import type {
  Failure,
  Made,
  MadeReport,
  ReportAnswer,
  ReportOrder,
  ReportPlaces,
  ReportQuery,
  ReportReading,
  ReportTask,
} from "./report-messages.ts";

/** `incomplete` is called before the answer if that may lack calls that have just ended. */
type Making = { signal?: AbortSignal | undefined; incomplete?: () => void };
/** `byOwner`: a filter by subject means the owners of keys alone, whatever labels calls carry. */
type Writing = Making & Partial<ReportReading> & { format: Format };

/** Answers checked specs, away from the event loop that answers calls. */
export type ReportWriter = {
  /**
   * The result of a checked spec (reports/spec.ts) as text, with `now` as the end of ranges that have none. A report that
   * has not started is dropped when `signal` aborts.
   * @throws GatewayError invalid_request for an impossible range; store_unavailable if a database is unavailable or a query
   * takes too long; overloaded if too many reports wait, or one waits too long; reports_unavailable if the report thread
   * has ended or is ending.
   */
  write(spec: Spec, now: Date, how: Writing): Promise<string>;
  /** The CSV of every row, as an open file that the caller closes. @throws GatewayError as `write` does */
  file(spec: Spec, now: Date, how: Omit<Writing, "format">): Promise<number>;
  /**
   * A complete payload as text: it is passed on once, which costs the event loop as much as one report. The thread checks
   * its items; one that fails is logged and has no result. With `gzip`, a long payload is compressed: sending it takes
   * the event loop a third less time.
   */
  writeAll(asked: PayloadRequest, now: Date, how: Making & { gzip: boolean }): Promise<Made>;
  /**
   * The answer to a query, as text (shared/report.ts: `QueryAnswer`, `QueryAnswers`, `OverviewAnswer`). It may have been made for another who
   * asked the same of the same records, within the last minute.
   */
  answer(asked: ReportQuery, now: Date, how: Making & { gzip: boolean }): Promise<Made>;
  /** Lets reports under way end, within 5 s. */
  close(): Promise<void>;
};

/** The result of a checked spec, for the gateway itself. @throws GatewayError as `write` does. */
export async function resultOf(
  writer: Pick<ReportWriter, "write">,
  spec: Spec,
  { now, ...how }: { now: Date; byOwner?: boolean; timeZone?: string },
): Promise<Result> {
  const result: unknown = JSON.parse(await writer.write(spec, now, { format: "json", ...how }));
  if (!fits(Result, result)) throw new GatewayError("internal");
  return result;
}

const CLOSE_MS = 5_000;

type Happenings = { behind(): void; missing(error: GatewayError): void; ended(code: string): void };

/** Starts the thread of `file`. Once it has ended, all that waits for it fails, and it is of no further use. */
function openReportThread(file: URL, places: ReportPlaces, on: Happenings) {
  const worker = new Worker(file);
  const closed = Promise.withResolvers<void>();
  const tell = (task: ReportTask) => worker.postMessage(JSON.stringify(task));
  const gate = reportGate<ReportOrder, MadeReport>({
    start: (id, order) => tell({ kind: "run", id, order }),
    forget: (id) => tell({ kind: "forget", id }),
    hung: () => void worker.terminate(),
  });
  let alive = true;
  const end = (code: string) => {
    if (!alive) return;
    alive = false;
    on.ended(code);
    gate.failAll("reports_unavailable");
    closed.resolve();
  };
  worker.unref();
  worker.on("message", (answer: ReportAnswer) => {
    if (answer.kind === "behind") on.behind();
    else if (answer.kind === "closed") closed.resolve();
    else if (answer.kind === "missing") on.missing(errorOf(answer));
    else if (answer.kind === "progress") gate.progress(answer.id);
    else gate.settle(answer.id, answer.kind === "done" ? answer : errorOf(answer));
  });
  worker.on("error", (error) => end(error instanceof Error ? error.name : "unknown"));
  worker.on("exit", () => end("it ended by itself"));
  tell({ kind: "open", ...places });

  return {
    make: (order: ReportOrder, signal: AbortSignal | undefined) =>
      gate.add(order, order.what === "payload" ? resultsOf(order.asked) : 1, signal),
    async close() {
      const patience = setTimeout(closed.resolve, CLOSE_MS);
      await Promise.race([closed.promise, gate.idle()]);
      tell({ kind: "close" });
      await closed.promise;
      clearTimeout(patience);
      await worker.terminate();
    },
  };
}

const errorOf = ({ type, message, inside }: Failure): GatewayError =>
  new GatewayError(type, message, inside === undefined ? undefined : new Error(inside));

/** A thread that has just died is not restarted at once, because the cause may persist. */
const RESTART_MS = 1_000;
const SAY_EVERY_MS = 60_000;

const THREAD = new URL("../../report-thread.ts", import.meta.url);

type WriterOptions = Ambient & {
  /** Where records are read from ClickHouse: reports wait, within bounds, for what Postgres has already. */
  copies?: Pick<Copies, "caughtUp"> | null;
  /** The version of what is stored, by which answers are kept; absent: none is kept. */
  version?: RecordVersion | undefined;
};

const told = ({ made, complete }: MadeReport, { incomplete }: Making) => {
  if (!complete) incomplete?.();
  return made;
};

/** A new file without a name, which only this process can read, once it is written; closed if `write` fails. */
async function fileOf(write: (fd: number) => Promise<unknown>): Promise<number> {
  const path = join(tmpdir(), `tallygate-${crypto.randomUUID()}.csv`);
  const fd = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  try {
    await write(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const plain = { what: "report", byOwner: false, timeZone: "UTC", complete: true } as const;

/** The thread is started by the first report, and again should it die. */
export function reportWriter(
  places: ReportPlaces,
  { log, clock, copies = null, version }: WriterOptions,
  threadFile = THREAD,
): ReportWriter {
  let thread: ReturnType<typeof openReportThread> | null = null;
  let diedAtMs = Number.NEGATIVE_INFINITY;
  let saidBehindMs = Number.NEGATIVE_INFINITY;
  let closing = false;

  const on: Happenings = {
    behind() {
      if (clock.monotonicMs() - saidBehindMs < SAY_EVERY_MS) return;
      saidBehindMs = clock.monotonicMs();
      log.warn({}, "the replica for reports lags, so reports omit the latest calls");
    },
    missing: (error) => log.warn(errorFields(error), "one of several reports failed"),
    ended(code) {
      thread = null;
      diedAtMs = clock.monotonicMs();
      if (!closing) log.error({ code }, "the report thread ended; the next report restarts it");
    },
  };
  const kept = answersByVersion<MadeReport>(clock);
  const whole = async (order: ReportOrder, signal: AbortSignal | undefined): Promise<MadeReport> => {
    const isCopied = copies === null || (await copies.caughtUp());
    const tooSoon = thread === null && clock.monotonicMs() - diedAtMs < RESTART_MS;
    if (closing || tooSoon) throw new GatewayError("reports_unavailable");
    thread ??= openReportThread(threadFile, places, on);
    return await thread.make(isCopied ? order : { ...order, complete: false }, signal);
  };
  const make = async (order: ReportOrder, how: Making) => told(await whole(order, how.signal), how);

  return {
    async write(spec, now, { signal, incomplete = () => undefined, ...of }) {
      const order = { ...plain, spec, ...of, nowMs: now.getTime() };
      const made = await make(order, { signal, incomplete });
      if (typeof made !== "string") throw new GatewayError("internal");
      return made;
    },
    file: (spec, now, { signal, incomplete = () => undefined, ...of }) =>
      fileOf(async (toFile) => {
        const order = { ...plain, spec, ...of, nowMs: now.getTime(), format: "csv", toFile } as const;
        await make(order, { signal, incomplete });
        if (signal?.aborted) throw new GatewayError("reports_unavailable");
      }),
    writeAll: async (asked, now, { gzip, ...how }) =>
      await make({ what: "payload", asked, gzip, nowMs: now.getTime(), complete: true }, how),
    async answer(asked, now, { gzip, ...how }) {
      const order = { what: "query", gzip, nowMs: now.getTime(), ...asked } as const;
      if (!version || !asked.complete) return await make(order, how);
      // An answer that begins later is as of then, for all who share it.
      const askedMs = clock.monotonicMs();
      const nowMs = () => order.nowMs + Math.round(clock.monotonicMs() - askedMs);
      const question = {
        key: JSON.stringify([asked, gzip]),
        version: () => version(asked.scope),
        make: (signal: AbortSignal) => whole({ ...order, nowMs: nowMs() }, signal),
      };
      return told(await kept.ask(question, how.signal), how);
    },
    async close() {
      closing = true;
      await thread?.close();
    },
  };
}
