import { TASK_KINDS, type TaskKind } from "./kinds.ts";
import ar from "./seeds/ar.json";
import de from "./seeds/de.json";
import en from "./seeds/en.json";
import es from "./seeds/es.json";
import fr from "./seeds/fr.json";
import hi from "./seeds/hi.json";
import it from "./seeds/it.json";
import ja from "./seeds/ja.json";
import ko from "./seeds/ko.json";
import nl from "./seeds/nl.json";
import pt from "./seeds/pt.json";
import ru from "./seeds/ru.json";
import tr from "./seeds/tr.json";
import zh from "./seeds/zh.json";

/** A built-in example of a kind of task. `id` is its place: language, kind, number. */
export type Seed = { id: string; kind: TaskKind; language: string; text: string };

const LANGUAGES: Readonly<Record<string, Partial<Record<TaskKind, readonly string[]>>>> = {
  ...{ en, zh, es, fr, de, pt, it, ru, ja, ko, ar, hi, nl, tr },
};

/** Every built-in example, in a fixed order. Written for this product; none is taken from a test set. */
export const SEEDS: readonly Seed[] = Object.entries(LANGUAGES).flatMap(([language, kinds]) =>
  TASK_KINDS.flatMap((kind) =>
    (kinds[kind] ?? []).map((text, index) => ({
      id: `builtin/${language}/${kind}/${index}`,
      kind,
      language,
      text,
    })),
  ),
);
