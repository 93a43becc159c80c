import { CONTENTS, type DocsPage } from "./contents.ts";
import { type Hit, QUERY_LENGTH_MAX } from "./search.ts";
import { BASE, type CutPage, type Site } from "./site.ts";

const escaped = Bun.escapeHTML;

/** The mark of the product, also as an icon of its own. */
export const BRAND = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#3b4cca"/><path d="M9 9v14M14 9v14M19 9v14M24 9v14M6 21 27 11" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>`;

/** What is around a page's own content. */
type Frame = { title: string; main: string; site: Site; current?: string; query?: string };

function framed({ title, main, site, current = "", query = "" }: Frame): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Tallygate docs</title>
<link rel="icon" type="image/svg+xml" href="${BASE}/icon.svg">
<link rel="stylesheet" href="${BASE}/docs.css">
<script src="${BASE}/script.js"></script>
</head>
<body>
<a class="skip-link" href="#content">Skip to the content</a>
<header>
<div class="top"><a class="brand" href="${BASE}">${BRAND}Tallygate docs</a> <a class="to-contents" href="${BASE}">Contents</a></div>
<form action="${BASE}/search" role="search"><input type="search" name="q" value="${escaped(query)}" placeholder="Search the docs" aria-label="Search the docs" required maxlength="${QUERY_LENGTH_MAX}"><button>Search</button></form>
<nav aria-label="Docs">${navigation(site, current)}</nav>
</header>
<main id="content" tabindex="-1">
${main}
</main>
</body>
</html>
`;
}

/** The groups of the contents with the pages that are there; groups without a page are left out. */
const groupsOf = (site: Site): { title: string; pages: DocsPage[] }[] =>
  CONTENTS.map(({ title, pages }) => ({
    title,
    pages: pages.filter(({ path }) => site.pages.some((page) => page.path === path)),
  })).filter(({ pages }) => pages.length > 0);

function navigation(site: Site, current: string): string {
  const groups = groupsOf(site).map(({ title, pages }) => {
    const items = pages.map(
      ({ path, title: name }) =>
        `<li><a href="${BASE}/${path}"${path === current ? ' aria-current="page"' : ""}>${escaped(name)}</a></li>`,
    );
    return `<p>${escaped(title)}</p><ul>${items.join("")}</ul>`;
  });
  return `${groups.join("\n")}
<p>More</p><ul><li><a href="/openapi">All addresses, to try</a></li><li><a href="/">The console</a></li></ul>`;
}

/** The list of contents, by task. */
export function contentsPage(site: Site): string {
  const groups = groupsOf(site).map(({ title, pages }) => {
    const items = pages.map(
      ({ path, title: name, summary }) =>
        `<dt><a href="${BASE}/${path}">${escaped(name)}</a></dt><dd>${inCode(summary)}</dd>`,
    );
    return `<section><h2>${escaped(title)}</h2><dl>${items.join("")}</dl></section>`;
  });
  const main = `<h1>Tallygate docs</h1>
<p class="summary">By task, from the first start to the API. The same pages are in the source code, beside what they describe.</p>
<div class="contents">${groups.join("\n")}</div>`;
  return framed({ title: "Contents", main, site });
}

export function docsPage(site: Site, page: CutPage): string {
  const { html, anchor } = site.contentOf(page);
  const at = site.pages.indexOf(page);
  const turns = [
    { page: site.pages[at - 1], rel: "prev", word: "Previous" },
    { page: site.pages[at + 1], rel: "next", word: "Next" },
  ].flatMap(({ page: to, rel, word }) =>
    to ? [`<a rel="${rel}" href="${BASE}/${to.path}"><small>${word}</small> ${escaped(to.title)}</a>`] : [],
  );
  const main = `<article>
<h1 id="${anchor}">${escaped(page.title)}</h1>
<p class="summary">${inCode(page.summary)}</p>
${html}
</article>
<footer><nav aria-label="Next pages">${turns.join("")}</nav><p>Source: <code>${escaped(page.file)}</code></p></footer>`;
  return framed({ title: page.title, main, site, current: page.path });
}

export function searchPage(site: Site, query: string, hits: readonly Hit[]): string {
  const items = hits.map(
    ({ href, page, heading, before, found, after }) => `<li><a href="${href}">${escaped(heading)}</a>
<span>${heading === page ? "" : escaped(page)}</span>
<p>${escaped(before)}<mark>${escaped(found)}</mark>${escaped(after)}</p></li>`,
  );
  const outcome =
    hits.length > 0
      ? `<ol class="hits">${items.join("\n")}</ol>`
      : `<p>No page has any of these words. Try others, or see the <a href="${BASE}">contents</a>.</p>`;
  return framed({ title: "Search", main: `<h1>Search</h1>\n${outcome}`, site, query });
}

/** At an address without a page. */
export function missingPage(site: Site): string {
  const text =
    site.pages.length > 0
      ? `No page of the docs has this address. Search for it, or see the <a href="${BASE}">contents</a>.`
      : "This installation has been made without the files of the docs. They are in the source code.";
  return framed({ title: "Not found", main: `<h1>Not found</h1>\n<p>${text}</p>`, site });
}

/** Words between backticks are code. */
const inCode = (text: string): string => escaped(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
