import type { Model, TrainInput } from "./model.ts";
import type { Starter } from "./starter.ts";

/** What the worker is asked and what it answers. */
export type TrainerRequest = { input: TrainInput; starter: Starter | null };
export type TrainerAnswer = { model: Model } | { failure: string };

/**
 * Trains in a Worker, so that the process goes on answering calls. Pass the `starter` of the model in force: it never
 * changes within a process, and training it is half of the work. Rejects when the worker dies or training fails.
 */
export function trainInWorker(input: TrainInput, starter: Starter | null = null): Promise<Model> {
  const { promise, resolve, reject } = Promise.withResolvers<Model>();
  const worker = new Worker(new URL("./trainer-thread.ts", import.meta.url));
  worker.onmessage = ({ data }: MessageEvent<TrainerAnswer>) => {
    if ("model" in data) resolve(data.model);
    else reject(new Error(`the classifier could not be trained: ${data.failure}`));
    worker.terminate();
  };
  worker.onerror = ({ message }) => {
    reject(new Error(`the classifier's worker died: ${message}`));
    worker.terminate();
  };
  worker.postMessage({ input, starter } satisfies TrainerRequest);
  return promise;
}
