import type { Model, TrainInput } from "./model.ts";
import type { Starter } from "./starter.ts";

type Packed = Uint8Array<ArrayBuffer>;

type Task = { task: "train"; input: TrainInput; starter: Starter | null } | { task: "load"; stored: Packed };
/** A request to the thread. Every answer repeats its `id`. */
export type TrainerRequest = { id: number } & Task;
/** Training answers twice: with the model, then with its stored form. */
export type TrainerAnswer = { id: number } & ({ model: Model } | { stored: Packed } | { failure: string });

/** A model, and a little later its stored form (gzip). */
type Trained = { model: Model; stored: Promise<Packed> };

export type Trainer = {
  /** Pass the `starter` of a current model: training it is half of the work. */
  train(input: TrainInput, starter: Starter | null): Promise<Trained>;
  /** Reads a stored form. Rejects if it is damaged or of another format. */
  load(stored: Packed): Promise<Model>;
  /** Ends the thread and rejects open requests. */
  close(): void;
};

type Waiting = {
  task: Task["task"];
  model: PromiseWithResolvers<Model>;
  stored: PromiseWithResolvers<Packed>;
};

/**
 * A thread that trains, so that the process goes on answering calls. Its promises reject when the work fails or the
 * thread dies; it cannot be used after that. It keeps the process alive until it is closed.
 */
export function startTrainer(): Trainer {
  const worker = new Worker(new URL("./trainer-thread.ts", import.meta.url));
  const waiting = new Map<number, Waiting>();
  let requests = 0;
  let ended: string | null = null;
  const end = (why: string) => {
    ended ??= why;
    for (const one of waiting.values()) reject(one, why);
    waiting.clear();
    worker.terminate();
  };
  worker.onmessage = ({ data }: MessageEvent<TrainerAnswer>) => {
    const one = waiting.get(data.id);
    if (!one) return;
    if ("model" in data) one.model.resolve(data.model);
    else if ("stored" in data) one.stored.resolve(data.stored);
    else reject(one, data.failure);
    if (!("model" in data) || one.task === "load") waiting.delete(data.id);
  };
  worker.onerror = () => end("its thread died");
  worker.addEventListener("close", () => end("its thread ended"));
  const ask = (request: Task): Waiting => {
    const one = {
      task: request.task,
      model: Promise.withResolvers<Model>(),
      stored: Promise.withResolvers<Packed>(),
    };
    // Waiting for the stored form is optional: without this, a failure would be an unhandled rejection.
    one.stored.promise.catch(() => undefined);
    requests++;
    waiting.set(requests, one);
    if (ended !== null) reject(one, ended);
    else worker.postMessage({ ...request, id: requests } satisfies TrainerRequest);
    return one;
  };
  return {
    async train(input, starter) {
      const { model, stored } = ask({ task: "train", input, starter });
      return { model: await model.promise, stored: stored.promise };
    },
    load: (stored) => ask({ task: "load", stored }).model.promise,
    close: () => end("its thread was closed"),
  };
}

function reject({ model, stored }: Waiting, why: string): void {
  const error = new Error(`the classifier could not be trained: ${why}`);
  model.reject(error);
  stored.reject(error);
}
