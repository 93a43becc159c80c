// Runs in a Worker: plans, asks and assembles reports, and writes their text, so that calls never wait for one.
import { parentPort } from "node:worker_threads";
import { connect } from "#drizzle/database.ts";
import { caughtUp } from "#drizzle/replica.ts";
import { systemClock } from "#shared/clock.ts";
import { GatewayError } from "../../errors.ts";
import { toCsv } from "../../reports/csv.ts";
import { giveWayHere, givingWay, NICENESS } from "../give-way.ts";
import type { Failure, ReportAnswer, ReportPlaces, ReportTask } from "./open-report-thread.ts";
import { type ReportRunner, reportRunner } from "./report-runner.ts";

giveWayHere(NICENESS.reports);

/** A report does not wait longer than this for a replica that lags behind. */
const LAG_MAX_MS = 1_000;

type Open = {
  runner: ReportRunner;
  /** Resolves once the place that is read from shows what is committed. */
  latest(): Promise<void>;
  close(): Promise<void>;
};
let opened: Open | null = null;

const say = (answer: ReportAnswer) => parentPort?.postMessage(answer);

parentPort?.on("message", (task: ReportTask) => {
  if (task.kind === "open") opened = open(task);
  else if (task.kind === "run") void run(task);
  else void opened?.close().finally(() => say({ kind: "closed" }));
});

function open(places: ReportPlaces): Open {
  const runner = reportRunner({ url: places.url, giveWay: givingWay(places.url, NICENESS.reports) });
  if (places.url === places.mainUrl) return { runner, latest: async () => undefined, close: runner.close };
  const options = { max: 1, statementTimeoutMs: LAG_MAX_MS, readOnly: true };
  const main = connect(places.mainUrl, { name: "reports lag", ...options });
  const replica = connect(places.url, { name: "reports lag", ...options });
  return {
    runner,
    latest: async () => {
      if (!(await caughtUp({ main, replica, clock: systemClock }, LAG_MAX_MS))) say({ kind: "behind" });
    },
    close: async () => {
      await Promise.all([runner.close(), main.end({ timeout: 1 }), replica.end({ timeout: 1 })]);
    },
  };
}

async function run({ id, spec, nowMs, format }: Extract<ReportTask, { kind: "run" }>): Promise<void> {
  try {
    if (!opened) throw new GatewayError("reports_unavailable");
    // A replica that cannot be asked fails the report itself, with the right word for it.
    await opened.latest().catch(() => undefined);
    const result = await opened.runner.run(spec, new Date(nowMs));
    say({ kind: "done", id, text: format === "csv" ? toCsv(result) : JSON.stringify(result) });
  } catch (error) {
    say({ kind: "failed", id, ...failureOf(error) });
  }
}

/** What a failure may tell another thread: never the message of the driver, which quotes values. */
function failureOf(error: unknown): Failure {
  if (error instanceof GatewayError) return { type: error.type, message: error.message };
  const name = error instanceof Error ? error.name : typeof error;
  const code = error instanceof Error && "code" in error ? ` ${String(error.code)}` : "";
  return { type: "internal", inside: `${name}${code} in the thread that makes reports` };
}
