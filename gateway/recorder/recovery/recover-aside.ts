import { Worker } from "node:worker_threads";
import type { RecoveryOrder, RecoveryResult } from "./recover.ts";
import type { RecoveryAnswer } from "./recover-worker.ts";

/** Recovers a segment on a thread of its own. Rejects if it cannot be recovered, such as on a full disk. */
export function recoverAside(order: RecoveryOrder): Promise<RecoveryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<RecoveryResult>();
  const worker = new Worker(new URL("./recover-worker.ts", import.meta.url));
  worker.unref();
  worker.on("error", reject);
  worker.on("message", (answer: RecoveryAnswer) => {
    if (answer.kind === "done") resolve(answer.result);
    else reject(new Error(answer.reason));
  });
  worker.postMessage(order);
  return promise.finally(() => void worker.terminate());
}
