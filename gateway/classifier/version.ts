import { CUES } from "./lexicon.ts";
import { MODEL_FORMAT, type TrainInput } from "./model.ts";
import { SEEDS } from "./seeds.ts";
import { TUNING } from "./tuning.ts";

const VERSION_CHARACTERS = 16;

const digestOf = (value: unknown): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(value)).digest("hex");

/** The part of a version that depends on the build: format, tuned numbers, built-in examples and cues. */
let built: string | null = null;

/**
 * Names the model that an input trains to: the same routes and the same build have the same version everywhere, and
 * training is deterministic, so replicas agree on it without communicating.
 */
export function versionOf({ routes, strictness }: TrainInput): string {
  built ??= digestOf([MODEL_FORMAT, TUNING, SEEDS, CUES]);
  const texts = routes.map(({ name, description, examples, keywords }) => [
    name,
    description,
    examples,
    keywords,
  ]);
  return digestOf([built, strictness, texts]).slice(0, VERSION_CHARACTERS);
}
