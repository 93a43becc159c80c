import type { Model, TrainInput } from "#gateway/classifier/model.ts";
import type { Starter } from "#gateway/classifier/starter.ts";
import { startTrainer } from "#gateway/classifier/trainer.ts";

/** Trains once, in a thread of its own. */
export async function trainInWorker(input: TrainInput, starter: Starter | null = null): Promise<Model> {
  const trainer = startTrainer();
  try {
    return (await trainer.train(input, starter)).model;
  } finally {
    trainer.close();
  }
}
