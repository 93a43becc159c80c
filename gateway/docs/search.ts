import type { Token } from "marked";
import MiniSearch from "minisearch";
import { BASE, type CutPage, type Site } from "./site.ts";
import { seenText } from "./source.ts";

/** Longest text that is searched for, in code units. */
export const QUERY_LENGTH_MAX = 200;
const HITS_MAX = 20;
/** Length of the text around what was found, before it and after it. */
const AROUND = { before: 60, after: 160 };

/** A heading with the text below it, up to the next heading. */
type Part = { id: number; href: string; page: string; heading: string; text: string };

export type Hit = {
  href: string;
  page: string;
  heading: string;
  before: string;
  found: string;
  after: string;
};
export type DocsSearch = (query: string) => Hit[];

/** Finds parts of pages by words, by their beginnings, and with small mistakes in long words. */
export async function searchOf({ pages }: Site): Promise<DocsSearch> {
  const parts = pages.flatMap(partsOf).map((part, id) => ({ id, ...part }));
  const index = new MiniSearch<Part>({
    fields: ["page", "heading", "text"],
    // The library's own keeps signs such as $ and = in words.
    tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u),
    searchOptions: {
      boost: { page: 4, heading: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 1 : false),
      combineWith: "AND",
    },
  });
  // In pieces, so that calls continue meanwhile.
  await index.addAllAsync(parts, { chunkSize: 10 });
  return (query) =>
    index
      .search(query.slice(0, QUERY_LENGTH_MAX))
      .slice(0, HITS_MAX)
      .flatMap(({ id, terms }) => {
        const part = parts[id];
        return part ? [hitOf(part, terms)] : [];
      });
}

function partsOf(page: CutPage): Omit<Part, "id">[] {
  const parts: { heading: string; anchor: string | undefined; tokens: Token[] }[] = [];
  for (const token of page.taken.flatMap(({ tokens }) => tokens)) {
    if (token.type === "heading") {
      parts.push({ heading: seenText([token]), anchor: page.source.anchors.get(token), tokens: [] });
    } else parts.at(-1)?.tokens.push(token);
  }
  return parts.map(({ heading, anchor, tokens }, at) => ({
    href: `${BASE}/${page.path}${at === 0 ? "" : `#${anchor}`}`,
    page: page.title,
    heading: at === 0 ? page.title : heading,
    text: seenText(tokens),
  }));
}

/** The text around the first of the words that were found in it. */
function hitOf({ href, page, heading, text }: Part, terms: readonly string[]): Hit {
  const lower = text.toLowerCase();
  const places = terms.map((term) => ({ term, at: lower.indexOf(term) })).filter(({ at }) => at >= 0);
  const [{ term, at } = { term: "", at: 0 }] = places.toSorted((a, b) => a.at - b.at);
  const from = Math.max(0, at - AROUND.before);
  const end = at + term.length;
  return {
    href,
    page,
    heading,
    before: `${from > 0 ? "…" : ""}${text.slice(from, at)}`,
    found: text.slice(at, end),
    after: `${text.slice(end, end + AROUND.after)}${text.length > end + AROUND.after ? "…" : ""}`,
  };
}
