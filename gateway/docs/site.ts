import { statSync } from "node:fs";
import { join, posix } from "node:path";
import type { Token } from "marked";
import { CONTENTS, type DocsPage, LEFT_OUT } from "./contents.ts";
import { rendered } from "./render.ts";
import { type DocsFile, type DocsSection, readDocs, seenText, targetsOf } from "./source.ts";

export const BASE = "/docs";

/** What a page takes from its file. */
export type CutPage = DocsPage & { source: DocsFile; taken: readonly DocsSection[] };

export type Site = {
  /** In the order of the contents; pages whose file is not there are left out. */
  pages: readonly CutPage[];
  /** Files that pages link to or show, from the root of the checkout. No other file is served. */
  files: ReadonlySet<string>;
  /** The HTML below a page's `h1`, and the anchor of that. */
  contentOf(page: CutPage): { html: string; anchor: string };
};

/** Reads the files of the docs below `root`. What is not there is left out: an installation need not have the sources. */
export async function readSite(root: string): Promise<Site> {
  const sources = new Map<string, DocsFile>();
  const table = CONTENTS.flatMap(({ pages }) => pages);
  for (const { file } of table) {
    const source = Bun.file(join(root, file));
    if (!sources.has(file) && (await source.exists())) sources.set(file, readDocs(file, await source.text()));
  }
  const pages = table.flatMap((page) => {
    const source = sources.get(page.file);
    return source ? [{ ...page, source, taken: takenBy(page, source) }] : [];
  });
  const files = new Set<string>();
  for (const source of sources.values()) {
    for (const target of targetsOf(source)) {
      const file = fileOf(source.file, target);
      if (file !== null && !sources.has(file) && isFile(join(root, file))) files.add(file);
    }
  }
  return { pages, files, contentOf: contentOf(pages, files) };
}

/** A section belongs to the page that names it, else to the page that has the rest of the file. */
function takenBy({ file, sections }: DocsPage, source: DocsFile): DocsSection[] {
  if (sections.length > 0) return source.sections.filter(({ heading }) => sections.includes(heading));
  const others = CONTENTS.flatMap(({ pages }) => pages)
    .filter((page) => page.file === file)
    .flatMap((page) => page.sections);
  return source.sections.filter(({ heading }) => !others.includes(heading));
}

const contentOf =
  (pages: readonly CutPage[], files: ReadonlySet<string>) =>
  (page: CutPage): { html: string; anchor: string } => {
    const { source, taken } = page;
    const tokens = taken.flatMap((section) => section.tokens);
    // The page's title replaces the heading of its file, or of its only section.
    const [first] = tokens;
    const depth: number = first?.type === "heading" ? first["depth"] : 0;
    const isReplaced = depth === 1 || taken.length === 1;
    const look = {
      hrefOf: (target: string) => hrefOf(target, { from: source.file, pages, files }),
      anchorOf: (heading: Token) => source.anchors.get(heading),
      raise: isReplaced ? depth - 1 : 0,
    };
    return {
      html: rendered(isReplaced ? tokens.slice(1) : tokens, look),
      anchor: (isReplaced && first && source.anchors.get(first)) || "top",
    };
  };

type Place = { from: string; pages: readonly CutPage[]; files: ReadonlySet<string> };

/** The address of what a file links to: a page of the site, a file beside the pages, or another host. */
function hrefOf(target: string, { from, pages, files }: Place): string | null {
  if (/^https?:\/\//.test(target)) return target;
  const file = fileOf(from, target);
  const anchor = target.split("#")[1];
  if (file === null) return null;
  if (files.has(file)) return `${BASE}/files/${file}`;
  const ofFile = pages.filter((page) => page.file === file);
  if (anchor === undefined) return file === "README.md" ? BASE : firstOf(ofFile);
  const page = ofFile.find(({ taken, source }) =>
    taken.some(({ tokens }) => tokens.some((token) => source.anchors.get(token) === anchor)),
  );
  if (page) return `${BASE}/${page.path}#${anchor}`;
  const first = firstOf(ofFile);
  return first === null || isLeftOut(file, anchor, ofFile) ? first && BASE : `${first}#${anchor}`;
}

/** The page that has the beginning of a file. */
const firstOf = (pages: readonly CutPage[]): string | null => {
  const page = pages.find(({ sections }) => sections.length === 0) ?? pages[0];
  return page ? `${BASE}/${page.path}` : null;
};

const isLeftOut = (file: string, anchor: string, [page]: readonly CutPage[]): boolean =>
  page !== undefined &&
  [...page.source.anchors].some(
    ([heading, its]) => its === anchor && LEFT_OUT[file]?.includes(seenText([heading])),
  );

/** From the root; null for other hosts and for what is above the root. */
function fileOf(from: string, target: string): string | null {
  const [path = ""] = target.split("#");
  if (/^[a-z]+:/i.test(path)) return null;
  const file = path === "" ? from : posix.join(posix.dirname(from), path);
  return file.startsWith("..") ? null : file;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
