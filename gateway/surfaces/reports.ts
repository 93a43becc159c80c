import { Elysia } from "elysia";
import { within } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { REPORT_JSON_SCHEMA, type Spec } from "#shared/report.ts";
import { fits } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import type { PayloadRequest } from "../reports/payload.ts";
import {
  DEFAULT_FRAME,
  type Format,
  frameOf,
  isBuiltIn,
  itemsOf,
  type NamedReport,
  QueryBody,
  ReportsBody,
  readFormatAlone,
  readQuery,
} from "../reports/request.ts";
import { checkBody, checkSpec } from "../reports/spec.ts";
import { periodsOf, windowOf } from "../reports/window.ts";
import type { Made } from "../stores/reports/open-report-thread.ts";
import type { ReportWriter } from "../stores/reports/report-worker.ts";
import { readBody } from "./body.ts";
import { REPORTS_DOCS } from "./reports-docs.ts";

export type ReportsDeps = {
  reportWriter: Pick<ReportWriter, "write" | "writeAll">;
  /** The saved reports of these ids; an id without a report is left out. */
  savedReports(ids: readonly string[]): Promise<readonly NamedReport[]>;
  /** Resolves for the admin key, and for a client key that may read reports; else throws a GatewayError. */
  authorizeReports(request: Request): Promise<void>;
  /** Resolves once the calls that ended until now are in the database; without `hurry` by the next batch of them. */
  settled(hurry?: boolean): Promise<void>;
  clock: Clock;
  log: Log;
};

const BODY_BYTES_MAX = 1024 * 1024;
/** A report does not wait longer than this for calls that have just ended. */
const SETTLED_MAX_MS = 1_000;
/** Hurrying takes the event loop the time of a call: of reports that follow each other closely only one does. */
const HURRY_EVERY_MS = 200;

/** The reporting API. Its bodies are read by hand, so that no refusal repeats what was sent. */
export const reports = (deps: ReportsDeps) => surface({ ...deps, settled: seldomHurrying(deps) });

const surface = (deps: ReportsDeps) =>
  new Elysia({ name: "surface.reports", normalize: false })
    .get("/v1/reports/schema.json", () => answer(JSON.stringify(REPORT_JSON_SCHEMA)), {
      detail: REPORTS_DOCS.schema,
    })
    .get(
      "/v1/reports",
      async ({ request }) => {
        await deps.authorizeReports(request);
        const query = readQuery(new URL(request.url).searchParams);
        const other = query.ids.filter((id) => !isBuiltIn(id));
        const items = itemsOf(query, other.length === 0 ? [] : await deps.savedReports(other));
        return await answered(heard(deps, request), query.format, { frame: frameOf(query), items });
      },
      { detail: REPORTS_DOCS.named },
    )
    .post(
      "/v1/reports",
      async ({ request }) => {
        await deps.authorizeReports(request);
        const format = readFormatAlone(new URL(request.url).searchParams);
        const body = await readJson(request);
        checkBody(ReportsBody, body, "body");
        if (!fits(ReportsBody, body)) throw new GatewayError("invalid_request");
        const { specs, range = DEFAULT_FRAME.range, compare = DEFAULT_FRAME.compare } = body;
        return await answered(heard(deps, request), format, { frame: { range, compare }, items: specs });
      },
      { parse: "none", detail: REPORTS_DOCS.several },
    )
    .post(
      "/v1/reports/query",
      async ({ request }) => {
        await deps.authorizeReports(request);
        const format = readFormatAlone(new URL(request.url).searchParams);
        const body = await readJson(request);
        checkBody(QueryBody, body, "body");
        if (!fits(QueryBody, body)) throw new GatewayError("invalid_request");
        const spec = checkSpec(body.spec);
        const asked = heard(deps, request);
        return format === "csv"
          ? await csv(asked, { id: spec.source, spec })
          : await settledAt(asked, async (now) => answer(await asked.write(spec, now, "json")));
      },
      { parse: "none", detail: REPORTS_DOCS.query },
    );

/** Reports for one request: those not started when the client disconnects are dropped. */
type Heard = Pick<ReportsDeps, "settled" | "clock" | "log"> & {
  write(spec: Spec, now: Date, format: Format): Promise<string>;
  writeAll(asked: PayloadRequest, now: Date): Promise<Made>;
};

const heard = ({ reportWriter, settled, clock, log }: ReportsDeps, { signal, headers }: Request): Heard => ({
  settled,
  clock,
  log,
  write: (spec, now, format) => reportWriter.write(spec, now, format, signal),
  writeAll: (asked, now) =>
    reportWriter.writeAll(asked, now, { gzip: takesGzip(headers.get("accept-encoding")), signal }),
});

async function answered(deps: Heard, format: Format, asked: PayloadRequest): Promise<Response> {
  const { frame, items } = asked;
  if (format === "json") {
    return await settledAt(deps, async (now) => {
      // Throws for a range that cannot be: that is one fault of the request, not one of every report.
      periodsOf(frame.range, frame.compare, now);
      return answer(await deps.writeAll(asked, now));
    });
  }
  const [item, ...others] = items;
  if (!item || others.length > 0) {
    throw new GatewayError(
      "invalid_request",
      "format: CSV holds one report, so name one id or send one spec",
    );
  }
  return await csv(deps, { id: item.id, spec: checkSpec(item.spec) });
}

function seldomHurrying({ settled, clock }: ReportsDeps): () => Promise<void> {
  let hurriedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    const hurry = nowMs - hurriedMs >= HURRY_EVERY_MS;
    if (hurry) hurriedMs = nowMs;
    return settled(hurry);
  };
}

/** Waits, within bounds, for calls that have just ended; if they cannot be stored now, the report is without them. */
async function settledAt<T>(deps: Heard, work: (now: Date) => Promise<T>): Promise<T> {
  const now = deps.clock.now();
  try {
    await within(SETTLED_MAX_MS, deps.settled());
  } catch (error) {
    deps.log.warn(errorFields(error), "a report omits the latest calls");
  }
  return await work(now);
}

async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBody(request, { bytesMax: BODY_BYTES_MAX });
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the text.
    throw new GatewayError("invalid_request", "body: is not JSON");
  }
}

const GZIP = /^gzip\s*(?:;\s*q=(?:1|0\.0{0,2}[1-9]).*)?$/i;
const takesGzip = (codings: string | null): boolean =>
  codings?.split(",").some((coding) => GZIP.test(coding.trim())) === true;

const answer = (made: Made): Response =>
  new Response(made, {
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(typeof made === "string" ? {} : { "content-encoding": "gzip" }),
      vary: "accept-encoding",
    },
  });

const csv = (deps: Heard, { id, spec }: { id: string; spec: Spec }): Promise<Response> =>
  settledAt(deps, async (now) => {
    const text = await deps.write(spec, now, "csv");
    return new Response(text, {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${fileName(id, spec, now)}"`,
        "cache-control": "no-store",
      },
    });
  });

/** `spend-by-model-2026-11-01-to-2026-11-21.csv`: the report and its days. */
function fileName(id: string, spec: Spec, now: Date): string {
  const { from } = windowOf(periodsOf(spec.range, "none", now).current);
  // The end does not belong to the window: the last day in it may be the one before.
  const lastDay = new Date(periodsOf(spec.range, "none", now).current.toMs - 1).toISOString().slice(0, 10);
  const name = id.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 64);
  return `${name}${from ? `-${from.slice(0, 10)}` : ""}-to-${lastDay}.csv`;
}
