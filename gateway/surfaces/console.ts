import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Elysia } from "elysia";
import { words } from "#shared/words.ts";
import { GatewayError, orNotFound } from "../errors.ts";

export type ConsoleDeps = {
  /** Where the built pages may be; the first directory that has them is served. */
  pagesDirectories: readonly string[];
};

/** First parts of the pages' addresses. What follows is read by the page itself. */
const PAGES = words(`
  /sign-in /overview /reports /explore /pull-requests /requests /sessions /tool-calls /me /device /set-up /settings
`);

/** Where the build put a placeholder, each answer gets a nonce of its own. */
const NONCE = "__NONCE__";

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** The console: one page at every address of a page, and its files. All it shows comes from the API's own addresses. */
export function consolePages(deps: ConsoleDeps) {
  const page = () => indexPage(deps);
  const app = new Elysia({ name: "surface.console", detail: { hide: true } })
    .get("/", ({ request }) => {
      if (!wantsHtml(request)) throw new GatewayError("not_found");
      return page();
    })
    .get("/assets/:name", ({ params, request }) => asset(deps, params.name, request));
  for (const path of PAGES) app.get(path, page).get(`${path}/*`, page);
  // A browser gets the page that says so, with its navigation; any other client gets a 404. Not `get`, which would
  // take precedence over every address that another surface gives to all methods.
  return app.all("/*", async ({ request }) => {
    if (request.method !== "GET" || !wantsHtml(request)) throw new GatewayError("not_found");
    const answer = await page();
    return new Response(answer.body, { status: 404, headers: answer.headers });
  });
}

const SAFE = {
  "x-content-type-options": "nosniff",
  // Not `no-referrer`: a browser would then send no Origin with a change, which the gateway demands.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
} as const;

/** A browser's navigation; a client of the API at `/` still gets its 404 in JSON. */
const wantsHtml = (request: Request): boolean =>
  request.headers.get("accept")?.includes("text/html") === true;

async function indexPage({ pagesDirectories }: ConsoleDeps): Promise<Response> {
  const nonce = randomBytes(16).toString("base64");
  const headers = {
    ...SAFE,
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "content-security-policy": policy(nonce),
  };
  const index = await firstFile(pagesDirectories, "index.html");
  return index === null
    ? new Response(NOT_BUILT, { status: 503, headers })
    : new Response((await index.text()).replaceAll(NONCE, nonce), { headers });
}

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tallygate</title>
<h1>The console has not been built</h1>
<p>The gateway itself works. <code>bun run start</code> builds the console when it starts; its output says what stopped it.</p></html>
`;

const ASSET = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|svg|woff2)$/;

/** Its name contains a hash of its content, so it never changes. */
async function asset(deps: ConsoleDeps, name: string, request: Request): Promise<Response> {
  const [, extension = ""] = ASSET.exec(name) ?? [];
  const type = orNotFound(TYPES[extension]);
  const takesGzip = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
  const zipped = takesGzip ? await firstFile(deps.pagesDirectories, `assets/${name}.gz`) : null;
  const file = orNotFound(zipped ?? (await firstFile(deps.pagesDirectories, `assets/${name}`)));
  return new Response(file, {
    headers: {
      ...SAFE,
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(zipped && { "content-encoding": "gzip" }),
    },
  });
}

async function firstFile(directories: readonly string[], name: string): Promise<Blob | null> {
  for (const directory of directories) {
    const file = Bun.file(join(directory, name));
    if (await file.exists()) return file;
  }
  return null;
}
