import { Elysia, type HTTPHeaders } from "elysia";
import { within } from "#drizzle/database.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { REPORT_JSON_SCHEMA, type Spec } from "#shared/report.ts";
import { fits } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import type { ReportReader } from "../identity/authorize.ts";
import { readBody } from "../plugins/body.ts";
import { forcedTeam, type TeamScope } from "../reports/forced-team.ts";
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
import { ASKABLE } from "../reports/sources.ts";
import { checkBody, checkSpec } from "../reports/spec.ts";
import { periodsOf, windowOf } from "../reports/window.ts";
import type { Made, ReportWriter } from "../stores/reports/report-writer.ts";
import type { SavedScope } from "../stores/reports/saved-reports.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { REPORTS_DOCS } from "./reports-docs.ts";

export type ReportsDeps = RequestBodyDeps & {
  reportWriter: Pick<ReportWriter, "write" | "writeAll">;
  /** The saved reports of these ids that there are in a scope; an id without a report is left out. */
  savedReports(ids: readonly string[], scope: SavedScope): Promise<readonly NamedReport[]>;
  /** Notes that a person exported a report as a file. */
  exported(request: Request, actor: string, report: string): Promise<void>;
  /** Who may read reports, and which records they cover. @throws GatewayError for everyone else. */
  authorizeReports(request: Request): Promise<ReportReader>;
  /** Resolves once all calls that have ended are in the database; `hurry` forces a flush instead of the next batch. */
  settled(hurry?: boolean): Promise<void>;
  log: Log;
};

const BODY_BYTES_MAX = 1024 * 1024;
/** A report does not wait longer than this for calls that have just ended. */
const SETTLED_MAX_MS = 1_000;
/** A forced flush costs the event loop about one call, so of reports in quick succession only one forces it. */
const HURRY_EVERY_MS = 200;

/** The reporting API. Its bodies are read by hand, so that no refusal repeats what was sent. */
export const reports = (deps: ReportsDeps) => surface({ ...deps, settled: seldomHurrying(deps) });

const surface = (deps: ReportsDeps) =>
  new Elysia({ name: "surface.reports", normalize: false })
    .get("/v1/reports/schema.json", () => answer(JSON.stringify(REPORT_JSON_SCHEMA)), {
      detail: REPORTS_DOCS.schema,
    })
    .get(
      "/v1/reports/catalogue",
      async ({ request, set }) => {
        await authorized(deps, request, set);
        return answer(JSON.stringify(ASKABLE));
      },
      { detail: REPORTS_DOCS.catalogue },
    )
    .get(
      "/v1/reports",
      async ({ request, set }) => {
        const reader = await authorized(deps, request, set);
        const query = readQuery(new URL(request.url).searchParams);
        const other = query.ids.filter((id) => !isBuiltIn(id));
        const items = itemsOf(query, other.length === 0 ? [] : await deps.savedReports(other, reader.saved));
        const asked = { frame: frameOf(query), items, scope: reader.scope };
        return await answered(heard(deps, request, reader), query.format, asked);
      },
      { detail: REPORTS_DOCS.named },
    )
    .post(
      "/v1/reports",
      async ({ request, set }) => {
        const reader = await authorized(deps, request, set);
        const format = readFormatAlone(new URL(request.url).searchParams);
        const body = await readJson(deps, request);
        checkBody(ReportsBody, body, "body");
        if (!fits(ReportsBody, body)) throw new GatewayError("invalid_request");
        const { specs, range = DEFAULT_FRAME.range, compare = DEFAULT_FRAME.compare } = body;
        const asked = { frame: { range, compare }, items: specs, scope: reader.scope };
        return await answered(heard(deps, request, reader), format, asked);
      },
      { parse: "none", detail: REPORTS_DOCS.several },
    )
    .post(
      "/v1/reports/query",
      async ({ request, set }) => {
        const reader = await authorized(deps, request, set);
        const format = readFormatAlone(new URL(request.url).searchParams);
        const body = await readJson(deps, request);
        checkBody(QueryBody, body, "body");
        if (!fits(QueryBody, body)) throw new GatewayError("invalid_request");
        const spec = forcedTeam(checkSpec(body.spec), reader.scope);
        const asked = heard(deps, request, reader);
        return format === "csv"
          ? await csv(asked, { id: spec.source, spec })
          : await settledAt(asked, async (now) =>
              answer(withScope(await asked.write(spec, now, "json"), reader.scope)),
            );
      },
      { parse: "none", detail: REPORTS_DOCS.query },
    );

async function authorized(
  deps: ReportsDeps,
  request: Request,
  set: { headers: HTTPHeaders },
): Promise<ReportReader> {
  const reader = await deps.authorizeReports(request);
  if (reader.cookie !== null) set.headers["set-cookie"] = reader.cookie;
  return reader;
}

/** Reports for one request: those not started when the client disconnects are dropped. */
type Heard = Pick<ReportsDeps, "settled" | "clock" | "log"> & {
  /** Notes that the report leaves as a file. */
  exported(report: string): Promise<void>;
  write(spec: Spec, now: Date, format: Format): Promise<string>;
  writeAll(asked: PayloadRequest, now: Date): Promise<Made>;
};

const heard = (
  { reportWriter, settled, clock, log, exported }: ReportsDeps,
  request: Request,
  reader: ReportReader,
): Heard => ({
  exported: (report) => exported(request, reader.actor, report),
  settled,
  clock,
  log,
  write: async (spec, now, format) =>
    masked(reader, await reportWriter.write(spec, now, { format, signal: request.signal })),
  async writeAll(asked, now) {
    const gzip = !reader.masks && takesGzip(request.headers.get("accept-encoding"));
    const made = await reportWriter.writeAll(asked, now, { gzip, signal: request.signal });
    return typeof made === "string" ? masked(reader, made) : made;
  },
});

const masked = ({ masks }: ReportReader, text: string): string => masks?.(text) ?? text;

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
  return await csv(deps, { id: item.id, spec: forcedTeam(checkSpec(item.spec), asked.scope ?? null) });
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

async function readJson(deps: RequestBodyDeps, request: Request): Promise<unknown> {
  const bytes = await readBody(deps, request, { bytesMax: BODY_BYTES_MAX });
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the text.
    throw new GatewayError("invalid_request", "body: is not JSON");
  }
}

/** Says beside `spec` that the report was limited to a team. */
const withScope = (result: string, scope: TeamScope | null): string =>
  scope === null ? result : `{"scope":${JSON.stringify({ team: scope.team })},${result.slice(1)}`;

const GZIP = /^gzip\s*(?:;\s*q=(?:1|0\.0{0,2}[1-9]).*)?$/i;
const takesGzip = (codings: string | null): boolean =>
  codings?.split(",").some((coding) => GZIP.test(coding.trim())) === true;

const answer = (made: Made): Response =>
  new Response(made, {
    headers: {
      "content-type": "application/json",
      ...(typeof made === "string" ? {} : { "content-encoding": "gzip" }),
      vary: "accept-encoding",
    },
  });

const csv = (deps: Heard, { id, spec }: { id: string; spec: Spec }): Promise<Response> =>
  settledAt(deps, async (now) => {
    const text = await deps.write(spec, now, "csv");
    await deps.exported(id);
    return new Response(text, {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${fileName(id, spec, now)}"`,
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
