import { gunzipSync, gzipSync } from "node:zlib";
import { keptStarter } from "./kept-starter.ts";
import type { Model } from "./model.ts";
import { deserialiseModel, packed } from "./model-file.ts";
import type { Starter } from "./starter.ts";
import { trainModel } from "./train.ts";
import type { TrainerAnswer, TrainerRequest } from "./trainer.ts";

/** It never changes within a process, and training it is half of the work. */
let starter: Starter | null = null;

/** The buffers to transfer: those of all arrays except shared ones. */
function buffersOf(value: unknown, found: Set<ArrayBuffer> = new Set()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (typeof value === "object" && value !== null) {
    for (const one of Object.values(value)) buffersOf(one, found);
  }
  return found;
}

// Transferred, not copied: copying megabytes would block the receiving thread.
const answer = (message: TrainerAnswer) => self.postMessage(message, [...buffersOf(message)]);

function load(stored: Uint8Array<ArrayBuffer>): Model {
  const model = deserialiseModel(gunzipSync(stored));
  if (!model) throw new TypeError("not a model of this format");
  starter ??= model.starter;
  return model;
}

function work(request: TrainerRequest): void {
  const { id } = request;
  if (request.task === "load") {
    answer({ id, model: load(request.stored) });
    return;
  }
  starter ??= request.starter ?? keptStarter();
  const model = trainModel(request.input, starter);
  const bytes = packed(model);
  // The model is transferred, so it is serialised first. Compressing takes time and comes last.
  answer({ id, model });
  answer({ id, stored: gzipSync(bytes, { level: PACKING }) });
}

/** Fast rather than small. */
const PACKING = 1;

self.onmessage = ({ data }: MessageEvent<TrainerRequest>) => {
  try {
    work(data);
  } catch (cause) {
    answer({ id: data.id, failure: cause instanceof Error ? cause.name : "unknown" });
  }
};
