import type { OverviewAnswer } from "#shared/overview.ts";
import type { Spec } from "#shared/report.ts";
import type { ErrorType } from "../../errors.ts";
import type { NamedSpec } from "../../reports/overview.ts";
import type { PayloadRequest } from "../../reports/payload.ts";
import type { Format } from "../../reports/request.ts";

// What the process and its report thread tell each other.

export type ReportQuery = {
  reports: readonly NamedSpec[];
  /** One report, which is answered as itself; several; or those of the Overview, with this beside them. */
  form: "one" | "several" | Pick<OverviewAnswer, "not_of_merges">;
  /** The team that the specs are limited to already; null: none. */
  scope: string | null;
  byOwner?: boolean;
  /** In which days, weeks and months begin. */
  timeZone: string;
  /** As costs were known then, which is the end of ranges that have none, too; absent: now. */
  asOfMs?: number | undefined;
  /** False: calls that have just ended could not be stored. */
  complete: boolean;
};

export type ReportReading = Pick<ReportQuery, "timeZone" | "asOfMs"> & {
  byOwner: boolean;
  allRows?: boolean | undefined;
};

/** Where reports are read from: the database itself, or a replica of it; records also from ClickHouse, if there is one. */
export type ReportPlaces = { url: string; mainUrl: string; clickhouseUrl?: string | null };

/**
 * A text to make: a whole payload, a query, or one checked spec in a form; `nowMs` is the end of ranges that have none. `toFile`: to be
 * written to this file, open in this process.
 */
export type ReportOrder = { nowMs: number; complete: boolean } & (
  | { what: "payload"; asked: PayloadRequest; gzip: boolean }
  | ({ what: "query"; gzip: boolean } & Omit<ReportQuery, "complete">)
  | ({ what: "report"; spec: Spec; format: Format; toFile?: number } & ReportReading)
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

/** `complete`: it has all calls that had ended when it was asked for. What was written to a file is empty. */
export type MadeReport = { made: Made; complete: boolean };

/** Messages from the thread. Texts cross threads a hundred times faster than objects. */
export type ReportAnswer =
  | ({ kind: "done"; id: number } & MadeReport)
  | ({ kind: "failed"; id: number } & Failure)
  /** One report of a payload has failed, and the payload is made without its result. */
  | ({ kind: "missing" } & Failure)
  /** The thread is alive, and its work takes long. */
  | { kind: "progress"; id: number }
  /** The replica does not show the latest calls. */
  | { kind: "behind" }
  | { kind: "closed" };
