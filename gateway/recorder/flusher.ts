import { Worker } from "node:worker_threads";
import type { Log } from "#shared/log.ts";
import type { FlushNews, FlushOrder } from "./flush-worker.ts";

/**
 * A record can be in the operating system's cache only for 100 ms, which is what a power failure may cost: this long,
 * and for as long as the disk takes.
 */
const EVERY_MS = 80;
const RESTART_MS = 1000;
const STOP_MS = 2000;

export type Flusher = {
  /** Has all that was written so far brought to the disk, and calls `then` when it is there: never, if it fails for good. */
  sync(then: () => void): void;
  /** Resolves when the worker has let go of the file, within 2 s. */
  stop(): Promise<void>;
};

/**
 * Starts the worker that brings the spool file at `path`, and its heads where it has some, to the disk, and starts it
 * again should it die.
 */
export function startFlusher(path: string, headPath: string | null, log: Log): Flusher {
  const questions = numbered();
  let worker: Worker | null = null;
  let restart: ReturnType<typeof setTimeout> | undefined;
  let stopped = () => {};

  function begin(): void {
    const next = new Worker(new URL("./flush-worker.ts", import.meta.url));
    worker = next;
    next.unref();
    next.on("message", (news: FlushNews) => {
      if (news.kind === "stopped") stopped();
      else if (news.kind === "synced") questions.answer(news.asked);
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
    tell(next, { kind: "start", path, headPath, everyMs: EVERY_MS });
    if (questions.asked() > 0) tell(next, { kind: "sync", asked: questions.asked() });
  }
  begin();

  return {
    sync(then) {
      const asked = questions.ask(then);
      if (worker) tell(worker, { kind: "sync", asked });
    },
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

/** Questions that are answered in the order in which they were asked, many at once. */
function numbered() {
  let asked = 0;
  let open: { number: number; then: () => void }[] = [];
  return {
    asked: () => asked,
    ask(then: () => void): number {
      asked += 1;
      open.push({ number: asked, then });
      return asked;
    },
    answer(through: number): void {
      const answered = open.filter(({ number }) => number <= through);
      open = open.filter(({ number }) => number > through);
      for (const { then } of answered) then();
    },
  };
}
