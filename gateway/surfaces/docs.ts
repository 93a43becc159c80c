import { extname, join } from "node:path";
import { Elysia } from "elysia";
import { once } from "#shared/once.ts";
import { BRAND, contentsPage, docsPage, missingPage, searchPage } from "../docs/layout.ts";
import { SCRIPT } from "../docs/script.ts";
import { type DocsSearch, searchOf } from "../docs/search.ts";
import { BASE, readSite, type Site } from "../docs/site.ts";

const ROOT = join(import.meta.dir, "../..");
const STYLES = [
  "shared/tokens.css",
  ...["frame", "text", "narrow-and-print"].map((name) => `gateway/docs/styles/${name}.css`),
];
const FONT = "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2";

/** Everything is the gateway's own. */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "form-action"].map((kind) => `${kind} 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = { ".png": "image/png", ".svg": "image/svg+xml" };
const HTML = "text/html; charset=utf-8";
const PLAIN = "text/plain; charset=utf-8";

/** Cached from the first request on: the docs do not change while the gateway runs. */
type Kept = { site: Site; pages: Map<string, string>; search(): Promise<DocsSearch> };

/** `GET /docs`: the docs for people, made of the Markdown beside the code. Public: the same for everyone. */
export function docsSite() {
  const kept = once(async (): Promise<Kept> => {
    const site = await readSite(ROOT);
    return { site, pages: new Map(), search: once(() => searchOf(site)) };
  });
  const missing = async (): Promise<Response> => answer(missingPage((await kept()).site), HTML, 404);
  return new Elysia({ name: "surface.docs", prefix: BASE, detail: { hide: true } })
    .get("", async () => {
      const { site } = await kept();
      return site.pages.length > 0 ? answer(contentsPage(site), HTML) : missing();
    })
    .get("/docs.css", async () => answer(await styles(), "text/css; charset=utf-8"))
    .get("/script.js", () => answer(SCRIPT, "text/javascript; charset=utf-8"))
    .get("/icon.svg", () => answer(BRAND, "image/svg+xml"))
    .get("/inter.woff2", () => answer(Bun.file(Bun.fileURLToPath(import.meta.resolve(FONT))), "font/woff2"))
    .get("/search", async ({ request }) => answer(await searched(await kept(), request), HTML))
    .get("/files/*", async ({ params }) => {
      const { site } = await kept();
      const file = params["*"];
      if (!site.files.has(file)) return missing();
      return answer(Bun.file(join(ROOT, file)), TYPES[extname(file)] ?? PLAIN);
    })
    .get("/:page", async ({ params }) => {
      const page = pageOf(await kept(), params.page);
      return page === null ? missing() : answer(page, HTML);
    })
    .get("/*", missing);
}

const styles = async (): Promise<string> =>
  (await Promise.all(STYLES.map((path) => Bun.file(join(ROOT, path)).text()))).join("\n");

/** A page's address is looked up in the table of contents, and is never part of a path on disk. */
function pageOf({ site, pages }: Kept, path: string): string | null {
  const page = site.pages.find((it) => it.path === path);
  if (!page) return null;
  const html = pages.get(path) ?? docsPage(site, page);
  pages.set(path, html);
  return html;
}

async function searched({ site, search }: Kept, request: Request): Promise<string> {
  const query = new URL(request.url).searchParams.get("q") ?? "";
  const find = await search();
  return searchPage(site, query, find(query));
}

const answer = (body: string | Blob, type: string, status = 200): Response =>
  new Response(body, {
    status,
    headers: {
      "content-type": type,
      "cache-control": "no-cache",
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
    },
  });
