import type { Token } from "marked";
import MiniSearch, { type Query, type SearchResult } from "minisearch";
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

/** What readers call things, and what the pages call them; both ways. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["≥", "lower bound"],
  ["pg_dump", "backup", "dump", "restore"],
  ["pgbouncer", "pooler", "supabase", "neon"],
  ["employee", "person", "people", "user", "colleague"],
  ["leaves", "disable", "disables", "offboarding"],
  ["troubleshooting", "symptom", "problem", "wrong"],
  ["roll out", "rollout", "deploy"],
  ["understand", "meaning", "means", "explain"],
  ["pr", "pull request"],
  ["sso", "single sign-on"],
  ["k8s", "kubernetes", "helm"],
  ["proxy", "nginx", "caddy"],
  ["spend", "cost"],
  ["upgrade", "update"],
  ["token", "key", "secret"],
  ["leaked", "revoke"],
  ["livez", "liveness", "probe", "readyz", "healthz"],
  ["journald", "logs", "log rotation", "log"],
  ["ram", "memory"],
  ["ha", "high availability", "several gateways", "replicas"],
  ["alerting", "alert"],
  ["downgrade", "rollback", "roll back", "earlier version"],
  ["gdpr", "erase", "retention"],
];

/** Words without a meaning of their own in a question. */
const FILLERS = new Set("a an and do does how i in is of the to what with".split(" "));

/** A query whose words may each be another one for the same thing. */
function widened(query: string, combineWith: "AND" | "OR"): Query {
  const words = wordsOf(query.toLowerCase());
  const telling = words.filter((word) => !FILLERS.has(word));
  const text = ` ${words.join(" ")} `;
  const queries = (telling.length > 0 ? telling : words).map((word): Query => {
    const same = SYNONYMS.filter((row) =>
      row.some((name) => wordsOf(name).includes(word) && text.includes(` ${wordsOf(name).join(" ")} `)),
    );
    const others = same.flat().map((name): Query => ({ combineWith: "AND", queries: wordsOf(name) }));
    return { combineWith: "OR", queries: [word, ...others] };
  });
  return { combineWith, queries };
}

/** The library's own keeps signs such as $ and = in words. */
const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}≥]+/u).filter(Boolean);

/** Finds parts of pages by words, beginnings, synonyms and near spellings: those with all first, then those with some. */
export async function searchOf({ pages }: Site): Promise<DocsSearch> {
  const parts = pages.flatMap(partsOf).map((part, id) => ({ id, ...part }));
  const index = new MiniSearch<Part>({
    fields: ["page", "heading", "text"],
    tokenize: wordsOf,
    searchOptions: {
      boost: { page: 4, heading: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 1 : false),
    },
  });
  // In pieces, so that calls continue meanwhile.
  await index.addAllAsync(parts, { chunkSize: 10 });
  return (query) => {
    const found = (["AND", "OR"] as const).flatMap((combineWith) =>
      index.search(widened(query.slice(0, QUERY_LENGTH_MAX), combineWith)),
    );
    return [...new Map(found.map((hit): [number, SearchResult] => [hit.id, hit])).values()]
      .slice(0, HITS_MAX)
      .flatMap(({ id, terms }) => {
        const part = parts[id];
        return part ? [hitOf(part, terms)] : [];
      });
  };
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
    text: at === 0 ? `${page.summary} ${seenText(tokens)}` : seenText(tokens),
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
