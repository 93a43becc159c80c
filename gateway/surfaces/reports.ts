import { Elysia } from "elysia";
import { within } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { REPORT_JSON_SCHEMA, type Report, type ReportPayload, type Result } from "#shared/report.ts";
import { fits } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import { toCsv } from "../reports/csv.ts";
import {
  agentEstimateSpec,
  DEFAULT_FRAME,
  type Frame,
  type Item,
  QueryBody,
  ReportsBody,
  readQuery,
  subscriptionSpec,
} from "../reports/request.ts";
import { checkBody, checkSpec } from "../reports/spec.ts";
import type { ReportRunner } from "../stores/report-runner.ts";
import { readBody } from "./body.ts";

export type ReportsDeps = {
  reportRunner: Pick<ReportRunner, "run">;
  /** Resolves for the admin key, and for a client key that may read reports; else throws a GatewayError. */
  authorizeReports(request: Request): Promise<void>;
  /** Resolves once the calls that ended until now are in the database. */
  settled(): Promise<void>;
  clock: Clock;
  log: Log;
};

const BODY_BYTES_MAX = 1024 * 1024;
/** A report does not wait longer than this for calls that have just ended. */
const SETTLED_MAX_MS = 1_000;

const TAGS = ["Reports"];

/** The reporting API (DECISIONS.md, reports). Its bodies are read by hand, so that no refusal repeats what was sent. */
export const reports = (deps: ReportsDeps) =>
  new Elysia({ name: "surface.reports", normalize: false })
    .get("/v1/reports/schema.json", () => json(REPORT_JSON_SCHEMA), {
      detail: { summary: "JSON Schema of the report payload", tags: TAGS },
    })
    .get(
      "/v1/reports",
      async ({ request }) => {
        await deps.authorizeReports(request);
        const { frame, items } = readQuery(new URL(request.url).searchParams);
        return json(await payload(deps, frame, items));
      },
      { detail: { summary: "Built-in reports", tags: TAGS } },
    )
    .post(
      "/v1/reports",
      async ({ request }) => {
        await deps.authorizeReports(request);
        const body = await readJson(request);
        checkBody(ReportsBody, body, "body");
        if (!fits(ReportsBody, body)) throw new GatewayError("invalid_request");
        const { specs, range = DEFAULT_FRAME.range, compare = DEFAULT_FRAME.compare } = body;
        return json(await payload(deps, { range, compare }, specs));
      },
      { parse: "none", detail: { summary: "Several reports at once", tags: TAGS } },
    )
    .post(
      "/v1/reports/query",
      async ({ request }) => {
        await deps.authorizeReports(request);
        const asCsv = wantsCsv(new URL(request.url).searchParams);
        const body = await readJson(request);
        checkBody(QueryBody, body, "body");
        if (!fits(QueryBody, body)) throw new GatewayError("invalid_request");
        const spec = checkSpec(body.spec);
        const now = deps.clock.now();
        await settled(deps);
        const result = await deps.reportRunner.run(spec, now);
        return asCsv ? csv(result) : json(result);
      },
      { parse: "none", detail: { summary: "One report, as JSON or CSV", tags: TAGS } },
    );

/** All items see the same instant as now. One that fails has no result; the two results every payload has must not fail. */
async function payload(deps: ReportsDeps, frame: Frame, items: readonly Item[]): Promise<ReportPayload> {
  const now = deps.clock.now();
  await settled(deps);
  const [reports, subscription, agentEstimate] = await Promise.all([
    Promise.all(items.map((item) => report(deps, now, item))),
    deps.reportRunner.run(subscriptionSpec(frame), now),
    deps.reportRunner.run(agentEstimateSpec(frame), now),
  ]);
  return { reports, subscription, agentEstimate };
}

async function report(deps: ReportsDeps, now: Date, { id, title, description, spec }: Item): Promise<Report> {
  const about = { id, title, description };
  try {
    return { ...about, result: await deps.reportRunner.run(checkSpec(spec), now) };
  } catch (error) {
    deps.log.warn(errorFields(error), "a report of several failed");
    return { ...about, result: null };
  }
}

/** Waits, within bounds, for calls that have just ended; if they cannot be stored now, the report is without them. */
async function settled(deps: ReportsDeps): Promise<void> {
  try {
    await within(SETTLED_MAX_MS, deps.settled());
  } catch (error) {
    deps.log.warn(errorFields(error), "a report does not see the latest calls");
  }
}

async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBody(request, BODY_BYTES_MAX);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the text.
    throw new GatewayError("invalid_request", "body: is not JSON");
  }
}

function wantsCsv(query: URLSearchParams): boolean {
  const format = query.get("format") ?? "json";
  if (format === "csv" || format === "json") return format === "csv";
  throw new GatewayError("invalid_request", "format: must be json or csv");
}

const json = (value: unknown): Response => Response.json(value, { headers: { "cache-control": "no-store" } });

const csv = (result: Result): Response =>
  new Response(toCsv(result), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="report.csv"',
      "cache-control": "no-store",
    },
  });
