import { Worker } from "node:worker_threads";
import type { Log } from "#shared/log.ts";
import type { FlushEvent, FlushOrder } from "./flush-worker.ts";

/** A power failure may cost 100 ms of records: this interval, and the time that the disk takes. */
const EVERY_MS = 80;
const RESTART_MS = 1000;
const STOP_MS = 2000;

type FlusherOptions = {
  log: Log;
  /** Called when syncing begins to fail, and when it works again. */
  onFailing: (failing: boolean) => void;
};

/** Starts and restarts the worker that syncs the segment to disk. Stopping it closes the file within 2 s. */
export function startFlusher(path: string, { log, onFailing }: FlusherOptions): () => Promise<void> {
  let worker: Worker | null = null;
  let restart: ReturnType<typeof setTimeout> | undefined;
  let stopped = () => {};

  function hear(news: FlushEvent): void {
    if (news.kind === "stopped") {
      stopped();
      return;
    }
    onFailing(news.code !== null);
    if (news.code) log.error({ code: news.code }, "the spool cannot be flushed to the disk");
    else log.info({}, "the spool is flushed to the disk again");
  }

  function begin(): void {
    const next = new Worker(new URL("./flush-worker.ts", import.meta.url));
    worker = next;
    next.unref();
    next.on("message", hear);
    next.on("error", () => {
      log.error({}, "the spool's flush worker died and is restarted");
      worker = null;
      onFailing(false);
      stopped();
      restart = setTimeout(begin, RESTART_MS);
      restart.unref();
    });
    order(next, { kind: "start", path, everyMs: EVERY_MS });
  }
  begin();

  return async () => {
    clearTimeout(restart);
    if (!worker) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    stopped = resolve;
    const giveUp = setTimeout(resolve, STOP_MS);
    order(worker, { kind: "stop" });
    await promise;
    clearTimeout(giveUp);
    clearTimeout(restart);
    await worker?.terminate();
  };
}

/** A flusher that can switch to another segment; resolves when it has closed the previous one. */
export function movableFlusher(path: string, options: FlusherOptions) {
  let stop = startFlusher(path, options);
  return {
    moveTo(next: string): Promise<void> {
      const stopped = stop();
      stop = startFlusher(next, options);
      return stopped;
    },
    stop: () => stop(),
  };
}

const order = (worker: Worker, message: FlushOrder) => worker.postMessage(message);
