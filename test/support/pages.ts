import { dirname, join, normalize } from "node:path";

const ROOT = join(import.meta.dir, "../..");
/** They are about the project, not for those who use it. */
const ASIDE = ["CHANGELOG.md", "shared/decisions/README.md", ".github/CONTRIBUTING.md"];

/** The README and every page that it leads to, by path, the README first. */
export async function readPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = ["README.md"];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (pages.has(path) || ASIDE.includes(path)) continue;
    const text = await Bun.file(join(ROOT, path)).text();
    pages.set(path, text);
    for (const [, target = ""] of text.matchAll(/\]\(([^):#\s]+\.md)(?:#[^)\s]*)?\)/g)) {
      waiting.push(normalize(join(dirname(path), target)));
    }
  }
  return pages;
}

/** What all pages say. */
export const readAllPages = async (): Promise<string> => [...(await readPages()).values()].join("\n");

/** The anchors of a page's headings, as GitHub makes them. */
export const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
