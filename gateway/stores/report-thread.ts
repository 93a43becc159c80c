// Runs in a Worker: plans, asks and assembles reports, and writes their text, so that calls never wait for one.
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { GatewayError } from "../errors.ts";
import { toCsv } from "../reports/csv.ts";
import { type ReportRunner, reportRunner } from "./report-runner.ts";
import type { Failure, ReportAnswer, ReportOrder } from "./report-worker.ts";

/** How much the thread gives way to the one that answers calls: 0 not at all, 19 wholly. */
const NICENESS = 10;

// Only Linux gives a thread a priority of its own; elsewhere it would be the whole process's.
if (process.platform === "linux") yieldToCalls();

let runner: ReportRunner | null = null;

const say = (answer: ReportAnswer) => parentPort?.postMessage(answer);

parentPort?.on("message", (order: ReportOrder) => {
  if (order.kind === "open") runner = reportRunner(order);
  else if (order.kind === "run") void run(order);
  else void runner?.close().finally(() => say({ kind: "closed" }));
});

async function run({ id, spec, nowMs, format }: Extract<ReportOrder, { kind: "run" }>): Promise<void> {
  try {
    if (!runner) throw new GatewayError("reports_unavailable");
    const result = await runner.run(spec, new Date(nowMs));
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

function yieldToCalls(): void {
  try {
    setPriority(0, NICENESS);
  } catch {
    // Then it has the priority that it has.
  }
}
