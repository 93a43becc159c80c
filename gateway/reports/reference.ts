import { EXPLANATION_MEANING, EXPLANATIONS } from "#shared/explanation.ts";
import { DIMENSIONS, MEASURE_MEANING, MEASURES, SOURCES } from "#shared/report.ts";
import { sourceOf } from "./sources.ts";

// Tables for readers, in Markdown, made from the tables that decide. The page beside them and the API's documentation show them.

/** Every measure: where it comes from, its unit, and what it is. */
export function measureTable(): string {
  const rows = MEASURES.map((name) => {
    const [unit, meaning] = MEASURE_MEANING[name];
    const sources = SOURCES.filter((source) => sourceOf(source).measures.includes(name));
    return [`\`${name}\``, code(sources), unit, meaning];
  });
  return markdownTable(["Measure", "Source", "Unit", "Meaning"], rows);
}

/** What each source can be cut and filtered by. */
export function dimensionTable(): string {
  const rows = SOURCES.map((source) => [
    `\`${source}\``,
    code(DIMENSIONS.filter((name) => sourceOf(source).dimensions.includes(name))),
  ]);
  return markdownTable(["Source", "Dimensions"], rows);
}

/** Why a pull request does not explain spend, in the order in which the first counts. */
export function explanationTable(): string {
  const rows = EXPLANATIONS.map((name) => [`\`${name}\``, ...EXPLANATION_MEANING[name]]);
  return markdownTable(["Explanation", "In the console", "Meaning"], rows);
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
