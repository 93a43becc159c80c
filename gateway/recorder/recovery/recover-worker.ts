// Runs in a Worker: reading a damaged segment of a gigabyte takes seconds, for which no call should wait.
import { parentPort } from "node:worker_threads";
import { type RecoveryOrder, type RecoveryResult, recoverSegment } from "./recover.ts";

export type RecoveryAnswer = { kind: "done"; result: RecoveryResult } | { kind: "failed"; reason: string };

const say = (answer: RecoveryAnswer) => parentPort?.postMessage(answer);

parentPort?.on("message", (order: RecoveryOrder) => {
  try {
    say({ kind: "done", result: recoverSegment(order) });
  } catch (error) {
    say({ kind: "failed", reason: error instanceof Error ? error.message : "unknown" });
  }
});
