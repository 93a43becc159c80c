import { fits } from "#shared/schema.ts";
import { retired } from "../../workers/merged-metrics.ts";
import {
  ANSWER_MS,
  isMetrics,
  type Metrics,
  WorkerAnswer,
  WorkerAsks,
  WorkerLeaves,
  type WorkerQuestion,
} from "../../workers/messages.ts";
import type { ChildProcess } from "./child-process.ts";

type Pending = {
  /** Those that have not answered. */
  waiting: Set<ChildProcess>;
  contents: unknown[];
  done(): void;
};

/** Relays workers' questions to each other, and keeps ended workers' counts, so that counters only rise. */
export function openSwitchboard(workers: () => readonly ChildProcess[]) {
  const pending = new Map<number, Pending>();
  const lastFigures = new Map<ChildProcess, Metrics>();
  let ofTheDead: Metrics = [];
  let burying = Promise.resolve();
  let number = 0;

  function keepFigures(of: ChildProcess, figures: Metrics): void {
    // Those of one that has ended are counted already.
    if (!workers().includes(of)) return;
    if (!lastFigures.has(of)) void of.exited.then(() => bury(of));
    lastFigures.set(of, figures);
  }

  function bury(dead: ChildProcess): void {
    burying = burying.then(async () => {
      ofTheDead = await retired([ofTheDead, lastFigures.get(dead) ?? []]);
      lastFigures.delete(dead);
    });
  }

  /** What those answer who do so in time. */
  async function put(question: WorkerQuestion, whom: readonly ChildProcess[]): Promise<unknown[]> {
    const id = number++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const it: Pending = { waiting: new Set(whom), contents: [], done: resolve };
    pending.set(id, it);
    const timer = setTimeout(resolve, ANSWER_MS);
    for (const worker of whom) {
      worker.send({ put: question, id });
      void worker.exited.then(() => leave(it, worker));
    }
    if (whom.length === 0) resolve();
    await promise;
    clearTimeout(timer);
    pending.delete(id);
    return it.contents;
  }

  function leave(it: Pending, worker: ChildProcess): void {
    it.waiting.delete(worker);
    if (it.waiting.size === 0) it.done();
  }

  async function answersTo(question: WorkerQuestion, from: ChildProcess): Promise<unknown[]> {
    const serving = workers().filter((worker) => worker.isPrepared());
    if (question !== "metrics")
      return await put(
        question,
        serving.filter((worker) => worker !== from),
      );
    await put(question, serving);
    await burying;
    return [...lastFigures.values(), ofTheDead];
  }

  return {
    take(message: unknown, from: ChildProcess): void {
      if (fits(WorkerLeaves, message)) {
        keepFigures(from, message.parting);
        from.send({ reply: message.id, contents: [] });
      } else if (fits(WorkerAsks, message)) {
        void answersTo(message.ask, from).then((contents) => from.send({ reply: message.id, contents }));
      } else if (fits(WorkerAnswer, message)) {
        const it = pending.get(message.answer);
        if (isMetrics(message.content)) keepFigures(from, message.content);
        it?.contents.push(message.content);
        if (it) leave(it, from);
      }
    },
  };
}
