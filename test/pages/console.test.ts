import { beforeAll, describe, expect, test } from "bun:test";
import { builtPages } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { PAGES } from "./shots.ts";

let gateway: LocalGateway;
let html: string;
beforeAll(async () => {
  await builtPages();
  gateway = await localGateway({ dataDir: `${scratch().path}/gateway` });
  html = await (await page("/overview")).text();
});

const page = (path: string, headers: Record<string, string> = { accept: "text/html" }) =>
  fetch(gateway.url + path, { headers });

const assetsIn = (text: string): string[] =>
  [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);

/** Bytes as they go over the line. */
const sizeOf = async (path: string): Promise<number> => {
  const answer = await fetch(gateway.url + path, {
    headers: { "accept-encoding": "gzip" },
    decompress: false,
  });
  return (await answer.arrayBuffer()).byteLength;
};

describe("the console's addresses", () => {
  test.each([
    "/",
    "/sign-in",
    "/overview",
    "/reports/spend-by-model",
    "/pull-requests/acme/shop/7",
    "/me",
    "/settings/providers",
  ])("%s is the page, and is not cached", async (path) => {
    const answer = await page(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
  });

  test("every page that the console has opens by its address", async () => {
    const router = await Bun.file(`${import.meta.dir}/../../gateway/pages/router.tsx`).text();
    const paths = [...router.matchAll(/\bpage\(\s*"([^"]+)"/g)].map(([, path = ""]) =>
      path.replaceAll("$", ""),
    );
    expect(paths).toContain("/sessions/session");
    const kinds = await Promise.all(
      paths.map(async (path) => (await page(path)).headers.get("content-type")),
    );
    expect(kinds).toEqual(paths.map(() => "text/html; charset=utf-8"));
  });

  test("`bun run screenshots` pictures every page", async () => {
    const router = await Bun.file(`${import.meta.dir}/../../gateway/pages/router.tsx`).text();
    const paths = [...router.matchAll(/\b(?:page\(\s*|path: )"([^"$][^"]+)"/g)].map(([, path = ""]) => path);
    expect(paths).toContain("/overview");
    const shown = [...PAGES, ["", "/sign-in"]].map(([, path = ""]) =>
      path.replace(/\?.*/, "").replace("/PULL_REQUEST", "/pull-requests/acme/shop/7"),
    );
    const like = (path: string) => new RegExp(`^${path.replace(/\/\$\w+/g, "/[^/]+")}$`);
    expect(paths.filter((path) => !shown.some((it) => like(path).test(it)))).toEqual([]);
  });

  test("a client of the API gets JSON at / as before, and at addresses that no page has", async () => {
    for (const [path, accept] of [
      ["/", "*/*"],
      ["/nothing", "application/json"],
    ] as const) {
      const answer = await page(path, { accept });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { type: expect.any(String) } });
    }
  });

  test("files have a name of their content, and are kept for a year", async () => {
    const assets = assetsIn(html);
    expect(assets.length).toBeGreaterThan(2);
    for (const path of assets) {
      const answer = await page(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    }
  });

  test.each(["/assets/nothing.js", "/assets/..%2f..%2fbuilt.json", "/assets/built.json"])(
    "%s is no file",
    async (path) => {
      expect((await page(path)).status).toBe(404);
    },
  );
});

describe("what the page may do", () => {
  test("scripts and styles come from here alone; a style that is added needs the answer's own nonce", async () => {
    const [one, other] = await Promise.all([page("/overview"), page("/overview")]);
    const policy = one.headers.get("content-security-policy") ?? "";
    const [, nonce = ""] = /'nonce-([^']+)'/.exec(policy) ?? [];
    expect(policy.replace(nonce, "…")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-…'; img-src 'self' data:; font-src 'self'; " +
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(await one.text()).toContain(`nonce="${nonce}"`);
    expect(other.headers.get("content-security-policy")).not.toContain(nonce);
  });

  test("nothing is written into the page that runs or loads from elsewhere", () => {
    expect(html).not.toMatch(/<script(?![^>]*src="\/assets\/)/);
    expect(html).not.toMatch(/<style|\sstyle="|\son\w+="|https?:\/\//);
  });
});

describe("its size, compressed", () => {
  test("the first page is under 250 kB of script and style", async () => {
    const first = assetsIn(html).filter((path) => /\.(js|css)$/.test(path));
    const sizes = await Promise.all(first.map(sizeOf));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
  });

  test("all of it is under 500 kB", async () => {
    const { directory } = await builtPages();
    const newest = JSON.parse(await Bun.file(`${directory}/built.json`).text()).assets as string[];
    const sizes = await Promise.all(
      newest.filter((name) => /\.(js|css)$/.test(name)).map((name) => sizeOf(`/assets/${name}`)),
    );
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(500_000);
  });
});
