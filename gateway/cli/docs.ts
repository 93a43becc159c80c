import { join } from "node:path";
import { MEASURE_MEANING } from "#shared/measure-meaning.ts";
import { DIMENSIONS, MEASURES, SOURCES } from "#shared/report.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { sourceOf } from "../reports/sources.ts";

export const README = join(import.meta.dir, "../../README.md");

/** The parts of the README that are made from the code's own tables, by the name in their markers. */
const PARTS = { measures: measureTable, dimensions: dimensionTable, kinds: kindTable } as const;

/** The README with its generated parts made anew. @throws Error where a part's markers are missing. */
export function withGenerated(readme: string): string {
  return Object.entries(PARTS).reduce((text, [name, make]) => {
    const markers = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!markers.test(text)) throw new Error(`README.md has no markers for ${name}`);
    return text.replace(markers, (_, begin: string, end: string) => `${begin}${make()}\n${end}`);
  }, readme);
}

function measureTable(): string {
  const rows = MEASURES.map((name) => {
    const [unit, meaning] = MEASURE_MEANING[name];
    const sources = SOURCES.filter((source) => sourceOf(source).measures.includes(name));
    return [`\`${name}\``, code(sources), unit, meaning];
  });
  return table(["Measure", "Source", "Unit", "Meaning"], rows);
}

function dimensionTable(): string {
  const rows = SOURCES.map((source) => [
    `\`${source}\``,
    code(DIMENSIONS.filter((name) => sourceOf(source).dimensions.includes(name))),
  ]);
  return table(["Source", "Dimensions"], rows);
}

/** Kinds of provider, and the variable that makes one exist. */
function kindTable(): string {
  const rows = Object.entries(PROVIDERS).map(([kind, facts]) => [
    `\`${kind}\``,
    facts.envKey === null ? "" : `\`${facts.envKey}\``,
  ]);
  return table(["Kind", "Exists with"], rows);
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

if (import.meta.main) {
  const file = Bun.file(README);
  await Bun.write(file, withGenerated(await file.text()));
}
