// Runs in a Worker: plans, asks and assembles reports, and writes their text, so that calls never wait for one.
import { parentPort } from "node:worker_threads";
import { connect } from "#drizzle/database.ts";
import { caughtUp } from "#drizzle/replica.ts";
import { systemClock } from "#shared/clock.ts";
import type { Result, Spec } from "#shared/report.ts";
import { GatewayError } from "./errors.ts";
import { type ReportRunner, reportRunner } from "./reporting.ts";
import { toCsv } from "./reports/csv.ts";
import { payloadOf } from "./reports/payload.ts";
import { AT_ONCE } from "./stores/reports/report-gate.ts";
import type { Failure, ReportAnswer, ReportPlaces, ReportTask } from "./stores/reports/report-writer.ts";

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
  /** Resolves once the place that is read from shows what is committed. */
  latest(): Promise<void>;
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
  if (places.url === places.mainUrl) return { runner, latest: async () => undefined, close: runner.close };
  const options = { max: 1, statementTimeoutMs: LAG_MAX_MS, readOnly: true };
  const main = connect(places.mainUrl, { name: "reports lag", ...options });
  const replica = connect(places.url, { name: "reports lag", ...options });
  return {
    runner,
    latest: async () => {
      // A replica that cannot be asked fails the report itself, with the right word for it.
      const progress = await caughtUp({ main, replica, clock: systemClock }, LAG_MAX_MS).catch(() => null);
      if (progress === "partial") throw new GatewayError("store_unavailable", PARTIAL);
      if (progress === "behind") say({ kind: "behind" });
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
    await opened.latest();
    const text = await textOf(opened, { id, order });
    const isPacked = order.what === "payload" && order.gzip && text.length >= PACKED_FROM;
    const made = isPacked ? Bun.gzipSync(text, PACKING) : text;
    say({ kind: "done", id, made });
  } catch (error) {
    say({ kind: "failed", id, ...failureOf(error) });
  } finally {
    wanted.delete(id);
  }
}

async function textOf({ runner }: Pick<Open, "runner">, { id, order }: Omit<Run, "kind">): Promise<string> {
  const written = async (spec: Spec, text: (result: Result) => string) => {
    if (!wanted.has(id)) throw new GatewayError("reports_unavailable");
    const beganMs = systemClock.monotonicMs();
    try {
      return text(
        await runner.run(spec, new Date(order.nowMs), { byOwner: order.what === "report" && order.byOwner }),
      );
    } finally {
      if (systemClock.monotonicMs() - beganMs > LONG_MS) say({ kind: "progress", id });
    }
  };
  if (order.what === "report")
    return await written(order.spec, order.format === "csv" ? toCsv : JSON.stringify);
  return await payloadOf(order.asked, {
    atOnce: AT_ONCE,
    write: (spec) => written(spec, JSON.stringify),
    failed: (error) => {
      if (wanted.has(id)) say({ kind: "missing", ...failureOf(error) });
    },
  });
}

/** What a failure may tell another thread: never the message of the driver, which quotes values. */
function failureOf(error: unknown): Failure {
  if (error instanceof GatewayError) return { type: error.type, message: error.message };
  const name = error instanceof Error ? error.name : typeof error;
  const code = error instanceof Error && "code" in error ? ` ${String(error.code)}` : "";
  return { type: "internal", inside: `${name}${code} in the thread that makes reports` };
}
