// Runs in a Worker: plans, asks and assembles reports, and writes their text, so that calls never wait for one.
import { appendFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { connect } from "#drizzle/database.ts";
import { caughtUp } from "#drizzle/replica.ts";
import { systemClock } from "#shared/clock.ts";
import type { Result } from "#shared/report.ts";
import type { QueryFacts } from "#shared/report-query.ts";
import { GatewayError } from "./errors.ts";
import { type ReportRunner, type ResultWithEmpty, reportRunner } from "./reporting.ts";
import { csvHead, csvLines, csvTotal, toCsv } from "./reports/csv.ts";
import { overviewParts, stackedReport } from "./reports/overview.ts";
import { payloadOf } from "./reports/payload.ts";
import { AT_ONCE } from "./stores/reports/report-gate.ts";
import type {
  Failure,
  ReportAnswer,
  ReportOrder,
  ReportPlaces,
  ReportTask,
} from "./stores/reports/report-messages.ts";

/** A report does not wait longer than this for a replica that lags behind. */
const LAG_MAX_MS = 1_000;
const PARTIAL = "The replica for reports has not copied all tables yet.";
/** A report that takes longer says that it has ended: others follow. */
const LONG_MS = 1_000;
/** Shorter texts cross and leave as fast as they are. */
const PACKED_FROM = 4096;
const PACKING = { level: 1, library: "libdeflate" } as const;

type Open = {
  runner: ReportRunner;
  /** Resolves once the place that is read from shows what is committed; false: it does not show the latest. */
  latest(): Promise<boolean>;
  close(): Promise<void>;
};
let opened: Open | null = null;
/** Orders under way that someone waits for. */
const wanted = new Set<number>();

const say = (answer: ReportAnswer) => parentPort?.postMessage(answer);

parentPort?.on("message", (text: string) => {
  const task: ReportTask = JSON.parse(text);
  if (task.kind === "open") opened = open(task);
  else if (task.kind === "run") void run(task);
  else if (task.kind === "forget") wanted.delete(task.id);
  else void opened?.close().finally(() => say({ kind: "closed" }));
});

function open(places: ReportPlaces): Open {
  const runner = reportRunner({ url: places.url, clickhouseUrl: places.clickhouseUrl ?? null });
  if (places.url === places.mainUrl) return { runner, latest: async () => true, close: runner.close };
  const options = { max: 1, statementTimeoutMs: LAG_MAX_MS, readOnly: true };
  const main = connect(places.mainUrl, { name: "reports lag", ...options });
  const replica = connect(places.url, { name: "reports lag", ...options });
  let isWhole = false;
  return {
    runner,
    latest: async () => {
      const progress = await caughtUp({ main, replica, clock: systemClock }, LAG_MAX_MS).catch(() => "busy");
      if (progress === "partial") throw new GatewayError("store_unavailable", PARTIAL);
      // A replica that has never said that it has all tables may lack some.
      if (progress === "busy" && !isWhole) throw new GatewayError("store_unavailable");
      isWhole = true;
      if (progress === "behind") say({ kind: "behind" });
      return progress === "reached";
    },
    close: async () => {
      await Promise.all([runner.close(), main.end({ timeout: 1 }), replica.end({ timeout: 1 })]);
    },
  };
}

type Run = Extract<ReportTask, { kind: "run" }>;

async function run({ id, order }: Run): Promise<void> {
  wanted.add(id);
  try {
    if (!opened) throw new GatewayError("reports_unavailable");
    const complete = (await opened.latest()) && order.complete;
    if (order.what === "report" && order.toFile !== undefined) {
      await writeFile(opened, id, { ...order, toFile: order.toFile });
      say({ kind: "done", id, made: "", complete });
      return;
    }
    const text = await textOf(opened, { id, order: { ...order, complete } });
    const isPacked = order.what !== "report" && order.gzip && text.length >= PACKED_FROM;
    const made = isPacked ? Bun.gzipSync(text, PACKING) : text;
    say({ kind: "done", id, made, complete });
  } catch (error) {
    say({ kind: "failed", id, ...failureOf(error) });
  } finally {
    wanted.delete(id);
  }
}

/** Writes all rows to a file: no thread holds more than a page, and a slow client does not keep the database. */
async function writeFile(
  { runner }: Pick<Open, "runner">,
  id: number,
  order: Extract<ReportOrder, { what: "report" }> & { toFile: number },
): Promise<void> {
  let last: Result | null = null;
  const now = nowOf({ asOfMs: undefined, ...order });
  const take = (page: Result) => {
    if (!wanted.has(id)) throw new GatewayError("reports_unavailable");
    appendFileSync(order.toFile, `${last ? "" : csvHead(page)}${csvLines(page)}`);
    last = page;
    say({ kind: "progress", id });
  };
  await runner.eachPage(order.spec, now, { ...order, take });
  if (last) appendFileSync(order.toFile, csvTotal(last));
}

async function textOf({ runner }: Pick<Open, "runner">, { id, order }: Omit<Run, "kind">): Promise<string> {
  const now = nowOf({ asOfMs: undefined, ...order });
  const written = async (make: () => Promise<string>) => {
    if (!wanted.has(id)) throw new GatewayError("reports_unavailable");
    const beganMs = systemClock.monotonicMs();
    try {
      return await make();
    } finally {
      if (systemClock.monotonicMs() - beganMs > LONG_MS) say({ kind: "progress", id });
    }
  };
  if (order.what === "query") {
    return await written(() => answerText(runner, order));
  }
  if (order.what === "report") {
    const text = order.format === "csv" ? toCsv : JSON.stringify;
    return await written(async () => text(await runner.run(order.spec, now, order)));
  }
  return await payloadOf(order.asked, {
    atOnce: AT_ONCE,
    write: (spec) =>
      written(async () => JSON.stringify(await runner.run(spec, now, { scope: order.asked.scope?.team }))),
    failed: (error) => {
      if (wanted.has(id)) say({ kind: "missing", ...failureOf(error) });
    },
  });
}

const nowOf = ({ nowMs, asOfMs = nowMs }: { nowMs: number; asOfMs?: number | undefined }): Date =>
  new Date(asOfMs);

/** What `POST /v1/reports/query` and `POST /v1/reports/overview` answer. */
async function answerText(
  runner: ReportRunner,
  { reports, form, ...order }: Extract<ReportOrder, { what: "query" }>,
): Promise<string> {
  const now = nowOf(order);
  const facts: QueryFacts = {
    scope: order.scope === null ? null : { team: order.scope },
    complete: order.complete,
    time_zone: order.timeZone,
    as_of: now.toISOString(),
  };
  if (typeof form !== "string") {
    const then = (results: readonly ResultWithEmpty[]) =>
      stackedReport(overviewParts(reports, results).models);
    const results = await runner.runAll(reports, now, { ...order, then });
    return JSON.stringify({ parts: overviewParts(reports, results), ...form, ...facts });
  }
  const results = await runner.runAll(reports, now, order);
  return JSON.stringify(form === "one" ? { ...results[0], ...facts } : { results, ...facts });
}

/** What a failure may tell another thread: never the message of the driver, which quotes values. */
function failureOf(error: unknown): Failure {
  if (error instanceof GatewayError) return { type: error.type, message: error.message };
  const name = error instanceof Error ? error.name : typeof error;
  const code = error instanceof Error && "code" in error ? ` ${String(error.code)}` : "";
  return { type: "internal", inside: `${name}${code} in the thread that makes reports` };
}
