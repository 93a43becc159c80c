import { Worker } from "node:worker_threads";
import type { Log } from "#shared/log.ts";
import type { FlushNews, FlushOrder } from "./flush-worker.ts";

/**
 * A record can be in the operating system's cache only for 100 ms, which is what a power failure may cost: at most 20
 * of them in the head (journal.ts), and then this long in the file.
 */
const EVERY_MS = 80;
const RESTART_MS = 1000;
const STOP_MS = 2000;

export type Flusher = {
  /** Resolves when the worker has let go of the file, within 2 s. */
  stop(): Promise<void>;
};

/** Starts the worker that brings the spool file at `path` to the disk, and starts it again should it die. */
export function startFlusher(path: string, log: Log): Flusher {
  let worker: Worker | null = null;
  let restart: ReturnType<typeof setTimeout> | undefined;
  let stopped = () => {};

  function begin(): void {
    const next = new Worker(new URL("./flush-worker.ts", import.meta.url));
    worker = next;
    next.unref();
    next.on("message", (news: FlushNews) => {
      if (news.kind === "stopped") stopped();
      else if (news.code) log.error({ code: news.code }, "the spool cannot be flushed to the disk");
      else log.info({}, "the spool is flushed to the disk again");
    });
    next.on("error", () => {
      log.error({}, "the spool's flush worker died and is started again");
      worker = null;
      stopped();
      restart = setTimeout(begin, RESTART_MS);
      restart.unref();
    });
    tell(next, { kind: "start", path, everyMs: EVERY_MS });
  }
  begin();

  return {
    async stop() {
      clearTimeout(restart);
      if (!worker) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      stopped = resolve;
      const giveUp = setTimeout(resolve, STOP_MS);
      tell(worker, { kind: "stop" });
      await promise;
      clearTimeout(giveUp);
      clearTimeout(restart);
      await worker?.terminate();
    },
  };
}

const tell = (worker: Worker, order: FlushOrder) => worker.postMessage(order);
