import { join } from "node:path";
import { AGES, ageText } from "#drizzle/ages.ts";
import { DEFAULT_SETTINGS, Settings } from "#shared/settings.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { dimensionTable, explanationTable, markdownTable, measureTable } from "../reports/reference.ts";

const ROOT = join(import.meta.dir, "../..");

/** Page parts generated from the code's own tables, by the name in their markers. */
const PARTS = {
  kinds: { page: "gateway/providers/README.md", make: kindTable },
  settings: { page: "gateway/README.md", make: settingTable },
  dimensions: { page: "gateway/reports/README.md", make: dimensionTable },
  ages: { page: "gateway/reports/README.md", make: ageTable },
  explanations: { page: "gateway/reports/README.md", make: explanationTable },
  measures: { page: "gateway/reports/README.md", make: measureTable },
} as const;

export const GENERATED_PAGES: readonly string[] = [...new Set(Object.values(PARTS).map(({ page }) => page))];

/** A page with its generated parts replaced. @throws Error if a part's markers are missing. */
export function withGenerated(page: string, text: string): string {
  const parts = Object.entries(PARTS).filter(([, part]) => part.page === page);
  return parts.reduce((present, [name, { make }]) => {
    const markers = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!markers.test(present)) throw new Error(`${page} has no markers for ${name}`);
    return present.replace(markers, (_, begin: string, end: string) => `${begin}${make()}\n${end}`);
  }, text);
}

function kindTable(): string {
  const rows = Object.entries(PROVIDERS).map(([kind, facts]) => [
    `\`${kind}\``,
    facts.envKey === null ? "" : `\`${facts.envKey}\``,
  ]);
  return markdownTable(["Kind", "Exists with"], rows);
}

function settingTable(): string {
  const rows = Object.entries(DEFAULT_SETTINGS).map(([name, value]) => {
    const schema = Settings.properties[name as keyof typeof DEFAULT_SETTINGS];
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    return [`\`${name}\``, `\`${shown}\``, meaningOf(schema)];
  });
  return markdownTable(["Switch", "Default", "Meaning"], rows);
}

/** Every table of the database, and how long its rows stay. Tables with the same answer share a line. */
function ageTable(): string {
  const tables = Map.groupBy(Object.keys(AGES), (table) => ageText(AGES[table] ?? { kept: "" }));
  const rows = [...tables].map(([text, names]) => [text, names.map((name) => `\`${name}\``).join(", ")]);
  return markdownTable(["How long rows stay", "Tables"], rows);
}

type Described = { description?: string; anyOf?: readonly { description?: string }[] };

/** The non-null form of a nullable member. */
const meaningOf = ({ description, anyOf = [] }: Described): string =>
  description ?? anyOf.find((form) => form.description)?.description ?? "";

if (import.meta.main) {
  for (const page of GENERATED_PAGES) {
    const file = Bun.file(join(ROOT, page));
    await Bun.write(file, withGenerated(page, await file.text()));
  }
}
