import type { TemplateName } from "../templates.ts";

/** Kinds of task that the built-in examples are sorted by. */
export const KINDS = [
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
export type Kind = (typeof KINDS)[number];

/** Which template routes a kind belongs to: the first that exists takes it. */
const HOMES: Readonly<Record<Kind, readonly TemplateName[]>> = {
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

/** The route, of those named, that takes a kind by its name; null where none does. */
export function homeOf(kind: Kind, names: ReadonlySet<string>): string | null {
  return HOMES[kind].find((name) => names.has(name)) ?? null;
}
