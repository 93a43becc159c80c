import { KINDS } from "./kinds.ts";
import type { Model } from "./model.ts";
import type { Starter } from "./starter.ts";
import { trainModel } from "./train.ts";
import type { TrainerAnswer, TrainerRequest } from "./trainer-worker.ts";

declare const self: Worker;

/** An empty starter in place of one that the asking side already has. */
const NO_STARTER: Starter = {
  vocabulary: {
    keys: new Uint32Array(),
    columns: new Int32Array(),
    rarity: new Float32Array(),
    width: 0,
    rarityUnseen: 0,
  },
  weights: new Float32Array(KINDS.length),
  held: new Float32Array(),
};

function buffersOf(value: unknown, found: Set<ArrayBuffer> = new Set()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value) && value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  else if (typeof value === "object" && value !== null)
    for (const one of Object.values(value)) buffersOf(one, found);
  return found;
}

function answer({ input, starter }: TrainerRequest): TrainerAnswer {
  try {
    const model: Model = starter ? trainModel(input, starter) : trainModel(input);
    return { model: starter ? { ...model, starter: NO_STARTER } : model };
  } catch (cause) {
    return { failure: cause instanceof Error ? cause.name : "unknown" };
  }
}

self.onmessage = ({ data }: MessageEvent<TrainerRequest>) => {
  const made = answer(data);
  // Moved, not copied: copying megabytes would stop the asking thread.
  self.postMessage(made, [...buffersOf(made)]);
};
