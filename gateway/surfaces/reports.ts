import { Elysia, type HTTPHeaders } from "elysia";
import type { Log } from "#shared/log.ts";
import { OverviewFrame } from "#shared/overview.ts";
import type { Spec } from "#shared/report.ts";
import { REPORT_JSON_SCHEMA } from "#shared/report-payload.ts";
import { QUERY_JSON_SCHEMA } from "#shared/report-query.ts";
import { refuse } from "../errors.ts";
import { takesGzip } from "../http/headers.ts";
import { jsonInBytes } from "../http/json-limits.ts";
import type { ReportReader } from "../identity/authorize.ts";
import { readBody } from "../plugins/body.ts";
import { csvFileName } from "../reports/csv.ts";
import { forcedTeam, type TeamScope } from "../reports/forced-team.ts";
import { isBudget } from "../reports/measures.ts";
import { notOfMerges, overviewSpecs } from "../reports/overview.ts";
import type { PayloadRequest } from "../reports/payload.ts";
import {
  DEFAULT_FRAME,
  type Format,
  frameOf,
  isBuiltIn,
  itemsOf,
  type NamedReport,
  QueryBody,
  querySpecs,
  ReportsBody,
  readAsOf,
  readFormatAlone,
  readQuery,
} from "../reports/request.ts";
import { ASKABLE } from "../reports/sources.ts";
import { checkBody, checkPayloadSpec } from "../reports/spec.ts";
import { periodsOf } from "../reports/window.ts";
import type { Made, ReportQuery } from "../stores/reports/report-messages.ts";
import type { ReportWriter } from "../stores/reports/report-writer.ts";
import type { SavedScope } from "../stores/reports/saved-reports.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { answer, fileStream, incompleteHeader, schemaAnswer, type Wholeness } from "./report-answers.ts";
import { REPORTS_DOCS } from "./reports-docs.ts";
import { type Settling, seldomHurrying, settledAt } from "./settled.ts";

export type ReportsDeps = RequestBodyDeps & {
  reportWriter: Pick<ReportWriter, "write" | "file" | "writeAll" | "answer">;
  /** The saved reports of these ids that there are in a scope; an id without a report is left out. */
  savedReports(ids: readonly string[], scope: SavedScope): Promise<readonly NamedReport[]>;
  /** The zone of days, weeks and months of queries that name none. */
  reportTimeZone(): string;
  /** Notes that a person exported a report as a file. */
  exported(request: Request, actor: string, report: string): Promise<void>;
  /** Who may read reports, and which records they cover. @throws GatewayError for everyone else. */
  authorizeReports(request: Request): Promise<ReportReader>;
  settled: Settling["settled"];
  log: Log;
};

const BODY_BYTES_MAX = 1024 * 1024;
/** The reporting API. Its bodies are read by hand, so that no refusal repeats what was sent. */
export const reports = (deps: ReportsDeps) => surface({ ...deps, settled: seldomHurrying(deps) });

const surface = (deps: ReportsDeps) =>
  new Elysia({ name: "surface.reports", normalize: false })
    .get("/v1/reports/schema.json", () => schemaAnswer(REPORT_JSON_SCHEMA), {
      detail: REPORTS_DOCS.schema,
    })
    .get("/v1/reports/query-schema.json", () => schemaAnswer(QUERY_JSON_SCHEMA), {
      detail: REPORTS_DOCS.querySchema,
    })
    .get(
      "/v1/reports/catalogue",
      async ({ request, set }) => {
        await authorized(deps, request, set);
        return schemaAnswer(ASKABLE);
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
        const body = checkBody(ReportsBody, await readJson(deps, request), "body");
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
        return await queried(heard(deps, request, reader), format, {
          body: await readJson(deps, request),
          scope: reader.scope,
        });
      },
      { parse: "none", detail: REPORTS_DOCS.query },
    )
    .post(
      "/v1/reports/overview",
      async ({ request, set }) => {
        const reader = await authorized(deps, request, set);
        return await overview(heard(deps, request, reader), await readJson(deps, request), reader.scope);
      },
      { parse: "none", detail: REPORTS_DOCS.overview },
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
type Heard = Pick<ReportsDeps, "settled" | "clock" | "log" | "reportTimeZone"> & {
  /** Notes that the report leaves as a file. */
  exported(report: string): Promise<void>;
  csv(spec: Spec, now: Date, how: CsvHow): Promise<string | ReadableStream<Uint8Array>>;
  writeAll(asked: PayloadRequest, now: Date): Promise<Made>;
  query(asked: Omit<ReportQuery, "complete">, now: Date): Promise<Made>;
  whole: Wholeness;
};

const heard = (deps: ReportsDeps, request: Request, { actor, masks }: ReportReader): Heard => {
  const whole = { complete: true };
  const how = {
    gzip: !masks && takesGzip(request.headers.get("accept-encoding")),
    signal: request.signal,
    incomplete: () => Object.assign(whole, { complete: false }),
  };
  const masked = <T extends Made>(made: T) => (typeof made === "string" ? (masks?.(made) ?? made) : made);
  return {
    ...deps,
    exported: (report) => deps.exported(request, actor, report),
    whole,
    // Rows are in order of a budget only together, and what is masked is masked as a whole.
    csv: async (spec, now, of) =>
      of.allRows && !masks && !isBudget(spec.measures[0])
        ? fileStream(await deps.reportWriter.file(spec, now, { ...how, ...of }))
        : String(masked(await deps.reportWriter.write(spec, now, { ...how, ...of, format: "csv" }))),
    writeAll: async (asked, now) => masked(await deps.reportWriter.writeAll(asked, now, how)),
    query: async (asked, now) =>
      masked(await deps.reportWriter.answer({ ...asked, complete: whole.complete }, now, how)),
  };
};

const ONE_AS_CSV = "format: CSV holds one report, so name one id or send one spec";

async function answered(deps: Heard, format: Format, asked: PayloadRequest): Promise<Response> {
  const { frame, items } = asked;
  if (format === "json") {
    return await settledAt(deps, async (now) => {
      // Throws for a range that cannot be: that is one fault of the request, not one of every report.
      periodsOf(frame.range, frame.compare, { now });
      return answer(deps.whole, await deps.writeAll(asked, now));
    });
  }
  const [item, ...others] = items;
  if (!item || others.length > 0) refuse(ONE_AS_CSV);
  return await csv(deps, { id: item.id, spec: forcedTeam(checkPayloadSpec(item.spec), asked.scope ?? null) });
}

async function queried(
  by: Heard,
  format: Format,
  { body: given, scope }: { body: unknown; scope: TeamScope | null },
): Promise<Response> {
  const body = checkBody(QueryBody, given, "body");
  const { specs: asked, isOne } = querySpecs(body);
  const timeZone = body.time_zone ?? by.reportTimeZone();
  const asOfMs = readAsOf(body.as_of, by.clock.now().getTime());
  const reports = asked.map((spec) => ({
    spec: forcedTeam(spec, scope),
    ...(body.rate_mix_volume && { moves: true as const }),
  }));
  if (format === "json") {
    if (body.all_rows) refuse("body.all_rows: needs format=csv");
    return await told(by, {
      reports,
      form: isOne ? "one" : "several",
      timeZone,
      asOfMs,
      scope: scope?.team ?? null,
    });
  }
  const [first] = reports;
  if (!first || !isOne) refuse(ONE_AS_CSV);
  return await csv(by, { id: first.spec.source, ...first, timeZone, asOfMs, allRows: body.all_rows });
}

async function overview(by: Heard, body: unknown, scope: TeamScope | null): Promise<Response> {
  const frame = checkBody(OverviewFrame, body, "body");
  return await told(by, {
    reports: overviewSpecs(frame, scope),
    form: { not_of_merges: notOfMerges(frame.filters) },
    timeZone: by.reportTimeZone(),
    scope: scope?.team ?? null,
  });
}

const told = (by: Heard, query: Omit<ReportQuery, "complete">): Promise<Response> =>
  settledAt(by, async (now) => answer(by.whole, await by.query(query, now)));

async function readJson(deps: RequestBodyDeps, request: Request): Promise<unknown> {
  const bytes = await readBody(deps, request, { bytesMax: BODY_BYTES_MAX });
  return jsonInBytes(bytes, "body: is not JSON");
}

type Exported = { id: string; spec: Spec } & Partial<CsvHow>;
type CsvHow = Pick<ReportQuery, "timeZone" | "asOfMs"> & { allRows?: boolean | undefined };

const csv = (deps: Heard, { id, spec, timeZone = "UTC", ...how }: Exported): Promise<Response> =>
  settledAt(deps, async (now) => {
    // First: an open file is not kept waiting.
    await deps.exported(id);
    const text = await deps.csv(spec, now, { timeZone, ...how });
    return new Response(text, {
      headers: {
        ...incompleteHeader(deps.whole),
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${csvFileName(id, spec, { now, timeZone })}"`,
      },
    });
  });
