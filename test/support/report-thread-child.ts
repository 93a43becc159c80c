// A thread in the place of the one that makes reports: what it does is told by the spec's first filter value.
import { parentPort } from "node:worker_threads";
import type { ReportAnswer, ReportTask } from "#gateway/stores/reports/report-messages.ts";

const say = (answer: ReportAnswer) => parentPort?.postMessage(answer);
const done = (id: number, made: string) => say({ kind: "done", id, made, complete: true });
let running = 0;
const forgotten: number[] = [];

parentPort?.on("message", (text: string) => {
  const task: ReportTask = JSON.parse(text);
  if (task.kind === "close") void untilIdle().then(() => say({ kind: "closed" }));
  if (task.kind === "forget") forgotten.push(task.id);
  if (task.kind !== "run") return;
  const { id, order } = task;
  if (order.what === "payload") {
    for (const _ of order.asked.items) say({ kind: "missing", type: "overloaded" });
    done(id, "payload");
    return;
  }
  if (order.what === "query") return done(id, "query");
  const deed = order.spec.filters.client?.[0] ?? "";
  if (deed === "forgotten") done(id, JSON.stringify(forgotten));
  if (deed === "exit") process.exit(3);
  if (deed === "throw") throw new TypeError("what went wrong inside");
  if (deed === "fail") say({ kind: "failed", id, type: "internal", inside: "TypeError" });
  if (deed === "slow") void slowly(id);
  if (deed === "ok") done(id, order.format);
});

async function slowly(id: number): Promise<void> {
  running++;
  await Bun.sleep(100);
  done(id, "slow");
  running--;
}

async function untilIdle(): Promise<void> {
  while (running > 0) await Bun.sleep(5);
}
