import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Spec } from "#shared/report.ts";
import { GatewayError } from "../../errors.ts";
import type { PayloadRequest } from "../../reports/payload.ts";
import type { Format } from "../../reports/request.ts";
import { type Made, openReportThread, type ReportPlaces, type ReportThread } from "./open-report-thread.ts";

/** Answers checked specs, away from the event loop that answers calls. */
export type ReportWriter = {
  /**
   * The result of a checked spec (reports/spec.ts) as text, with `now` as the end of ranges that have none. A report that
   * has not started is dropped when `signal` aborts.
   * @throws GatewayError invalid_request for an impossible range; store_unavailable if Postgres is unavailable or a query
   * takes too long; overloaded if too many reports wait, or one waits too long; reports_unavailable if the report thread
   * has ended or is ending.
   */
  write(spec: Spec, now: Date, how: { format: Format; signal?: AbortSignal }): Promise<string>;
  /**
   * A complete payload as text: it is passed on once, which costs the event loop as much as one report. The thread checks
   * its items; one that fails is logged and has no result. With `gzip`, a long payload is compressed: sending it takes
   * the event loop a third less time.
   */
  writeAll(asked: PayloadRequest, now: Date, how: { gzip: boolean; signal?: AbortSignal }): Promise<Made>;
  /** Lets reports under way end, within 5 s. */
  close(): Promise<void>;
};

/** A thread that has just died is not started again at once: what killed it may do so again. */
const RESTART_MS = 1_000;
const SAY_EVERY_MS = 60_000;

const THREAD = new URL("../../report-thread.ts", import.meta.url);

/** The thread is started by the first report, and again should it die. */
export function reportWriter(
  places: ReportPlaces,
  { log, clock }: { log: Log; clock: Clock },
  threadFile = THREAD,
): ReportWriter {
  let thread: ReportThread | null = null;
  let diedAtMs = Number.NEGATIVE_INFINITY;
  let saidBehindMs = Number.NEGATIVE_INFINITY;
  let closing = false;

  const behind = () => {
    if (clock.monotonicMs() - saidBehindMs < SAY_EVERY_MS) return;
    saidBehindMs = clock.monotonicMs();
    log.warn({}, "the replica for reports lags, so reports omit the latest calls");
  };
  const missing = (error: GatewayError) => log.warn(errorFields(error), "one of several reports failed");
  const ended = (code: string) => {
    thread = null;
    diedAtMs = clock.monotonicMs();
    if (!closing) log.error({ code }, "the report thread ended; the next report restarts it");
  };

  const alive = (): ReportThread => {
    const tooSoon = thread === null && clock.monotonicMs() - diedAtMs < RESTART_MS;
    if (closing || tooSoon) throw new GatewayError("reports_unavailable");
    thread ??= openReportThread(threadFile, places, { behind, missing, ended });
    return thread;
  };

  return {
    async write(spec, now, { format, signal }) {
      const made = await alive().make({ what: "report", spec, nowMs: now.getTime(), format }, signal);
      if (typeof made !== "string") throw new GatewayError("internal");
      return made;
    },
    writeAll: async (asked, now, { gzip, signal }) =>
      await alive().make({ what: "payload", asked, gzip, nowMs: now.getTime() }, signal),
    async close() {
      closing = true;
      await thread?.close();
    },
  };
}
