import { trainModel } from "./train.ts";
import type { TrainerAnswer, TrainerRequest } from "./trainer-worker.ts";

declare const self: Worker;

/** The memory of a model that is its own: what threads share stays where it is. */
function buffersOf(value: unknown, found: Set<ArrayBuffer> = new Set()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value) && value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  else if (typeof value === "object" && value !== null)
    for (const one of Object.values(value)) buffersOf(one, found);
  return found;
}

function answer({ input, starter }: TrainerRequest): TrainerAnswer {
  try {
    return { model: starter ? trainModel(input, starter) : trainModel(input) };
  } catch (cause) {
    return { failure: cause instanceof Error ? cause.name : "unknown" };
  }
}

self.onmessage = ({ data }: MessageEvent<TrainerRequest>) => {
  const made = answer(data);
  // Moved, not copied: copying megabytes would stop the asking thread.
  self.postMessage(made, [...buffersOf(made)]);
};
