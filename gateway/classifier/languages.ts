import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Languages of the built-in examples (`seeds/`) and cues (`lexicon/`). Their order is part of every model. */
export const LANGUAGES = ["en", "zh", "es", "fr", "de", "pt", "it", "ru", "ja", "ko", "ar", "hi", "nl", "tr"];

type Texts = Readonly<Record<string, readonly string[]>>;

/** A language's examples by kind of task, or its cues by concept. */
export const readTexts = (folder: "seeds" | "lexicon", language: string): Texts =>
  // The files are ours.
  JSON.parse(readFileSync(join(import.meta.dir, folder, `${language}.json`), "utf8"));
