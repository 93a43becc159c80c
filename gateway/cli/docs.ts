import { join } from "node:path";
import { PROVIDERS } from "../providers/catalog.ts";
import { dimensionTable, markdownTable, measureTable } from "../reports/reference.ts";

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

/** Kinds of provider, and the variable that makes one exist. */
function kindTable(): string {
  const rows = Object.entries(PROVIDERS).map(([kind, facts]) => [
    `\`${kind}\``,
    facts.envKey === null ? "" : `\`${facts.envKey}\``,
  ]);
  return markdownTable(["Kind", "Exists with"], rows);
}

if (import.meta.main) {
  const file = Bun.file(README);
  await Bun.write(file, withGenerated(await file.text()));
}
