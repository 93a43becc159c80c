import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Languages of the built-in examples (`seeds/`) and cues (`lexicon/`). Their order is part of every model. */
export const LANGUAGES = ["en", "zh", "es", "fr", "de", "pt", "it", "ru", "ja", "ko", "ar", "hi", "nl", "tr"];

type Texts = Readonly<Record<string, readonly string[]>>;

/** A language's examples by kind of task, or its cues by concept. */
export const readTexts = (folder: "seeds" | "lexicon", language: string): Texts =>
  // The files are ours.
  JSON.parse(readFileSync(join(import.meta.dir, folder, `${language}.json`), "utf8"));

/** Kinds of task that the built-in examples are sorted by. */
export const TASK_KINDS = [
  "coding",
  "summarization",
  "translation",
  "extraction",
  "rewriting",
  "writing",
  "math",
  "reasoning",
  "general",
  "planning",
  "roleplay",
  "smalltalk",
] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** Route names that classify by the name alone: the gateway brings the examples. */
const TEMPLATES = [
  "coding",
  "summarization",
  "translation",
  "extraction",
  "rewriting",
  "writing",
  "math",
  "reasoning",
  "planning",
  "roleplay",
  "general",
  "chat",
] as const;
type TemplateName = (typeof TEMPLATES)[number];

const TEMPLATE_NAMES: ReadonlySet<string> = new Set(TEMPLATES);
export const isTemplate = (name: string): boolean => TEMPLATE_NAMES.has(name);

/** The templates that take a kind of task, in order of preference. */
const TAKEN_BY: Readonly<Record<TaskKind, readonly TemplateName[]>> = {
  coding: ["coding"],
  summarization: ["summarization"],
  translation: ["translation"],
  extraction: ["extraction"],
  rewriting: ["rewriting", "writing"],
  writing: ["writing"],
  math: ["math", "reasoning"],
  reasoning: ["reasoning", "math"],
  general: ["general", "chat"],
  planning: ["planning", "general", "chat"],
  roleplay: ["roleplay", "general", "chat"],
  smalltalk: ["chat", "general"],
};

/** The template that takes a kind among these routes; null if there is none. */
export const templateFor = (kind: TaskKind, routes: ReadonlySet<string>): string | null =>
  TAKEN_BY[kind].find((name) => routes.has(name)) ?? null;

/** Whether the kind is the template's own, rather than one that it takes because a better one is missing. */
export const isPreferred = (kind: TaskKind, template: string): boolean => TAKEN_BY[kind][0] === template;

/** A built-in example of a kind of task. `id` is its place: language, kind, number. */
type Seed = { id: string; kind: TaskKind; language: string; text: string };

/** Every built-in example, in a fixed order. Written for this product; none is taken from a test set. */
export const SEEDS: readonly Seed[] = LANGUAGES.flatMap((language) => {
  const kinds = readTexts("seeds", language);
  return TASK_KINDS.flatMap((kind) =>
    (kinds[kind] ?? []).map((text, index) => ({
      id: `builtin/${language}/${kind}/${index}`,
      kind,
      language,
      text,
    })),
  );
});
