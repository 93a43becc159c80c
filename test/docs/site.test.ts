import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Elysia } from "elysia";
import { CONTENTS, LEFT_OUT } from "#gateway/docs/contents.ts";
import { readSite, type Site } from "#gateway/docs/site.ts";
import { seenText, targetsOf } from "#gateway/docs/source.ts";
import { docsSite } from "#gateway/surfaces/docs.ts";
import { atEnd } from "#test/support/at-end.ts";
import { BROWSER, faultsOfAccess, launchBrowser, visit } from "#test/support/browser.ts";
import { scratch } from "#test/support/embedded.ts";

const ROOT = join(import.meta.dir, "../..");
const TABLE = CONTENTS.flatMap(({ pages }) => pages);
/** Directories, which a page names with their path. */
const DIRECTORIES = ["monitoring", "elsewhere"];

let site: Site;
let origin: string;
/** What `/docs` and everything it leads to answers, by address without its anchor. */
const answers = new Map<string, { status: number; headers: Headers; text: string }>();

async function load(path: string) {
  const known = answers.get(path);
  if (known) return known;
  const answer = await fetch(origin + path);
  const got = { status: answer.status, headers: answer.headers, text: await answer.text() };
  answers.set(path, got);
  return got;
}

const linksIn = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);
const isOfSite = (link: string) => /^\/docs(?:[/?#]|$)/.test(link);

beforeAll(async () => {
  site = await readSite(ROOT);
  const app = new Elysia().use(docsSite()).listen({ port: 0, hostname: "127.0.0.1" });
  atEnd(async () => void (await app.stop(true)));
  origin = `http://127.0.0.1:${app.server?.port}`;
});

describe("the docs", () => {
  test("have every README beside a room, and each section of every file on one page or left to the contents", async () => {
    const files = new Set(TABLE.map(({ file }) => file));
    const readmes = new Bun.Glob("{README.md,{gateway,github-app,shared}/**/README.md}").scan(ROOT);
    expect((await Array.fromAsync(readmes)).filter((path) => !files.has(path))).toEqual([]);
    expect(site.pages.map(({ path }) => path)).toEqual(TABLE.map(({ path }) => path));
    for (const file of files) {
      const pages = site.pages.filter((page) => page.file === file);
      const taken = pages.flatMap((page) => page.taken.map(({ heading }) => heading));
      const there = pages[0]?.source.sections.map(({ heading }) => heading) ?? [];
      expect([file, [...taken, ...(LEFT_OUT[file] ?? [])].toSorted()]).toEqual([file, there.toSorted()]);
    }
    for (const { path, sections, taken } of site.pages) {
      expect([path, taken.length]).toEqual([path, sections.length || taken.length]);
      expect([path, taken.length > 0]).toEqual([path, true]);
    }
  });

  test("have no dead link, and reach every page from their contents", async () => {
    const waiting = ["/docs"];
    const dead: string[] = [];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (answers.has(path)) continue;
      const { status, text, headers } = await load(path);
      if (status !== 200) dead.push(path);
      if (!headers.get("content-type")?.startsWith("text/html")) continue;
      waiting.push(...linksIn(text).flatMap((link) => (isOfSite(link) ? [link.split("#")[0] ?? ""] : [])));
    }
    expect(dead).toEqual([]);
    expect(TABLE.filter(({ path }) => !answers.has(`/docs/${path}`))).toEqual([]);
    for (const [from, { text }] of answers) {
      if (!from.startsWith("/docs/files/")) dead.push(...(await deadAnchors(from, text)));
    }
    expect(dead).toEqual([]);
  });

  async function deadAnchors(from: string, html: string): Promise<string[]> {
    const dead: string[] = [];
    for (const link of linksIn(html)) {
      const [path, anchor] = link.split("#");
      if (anchor === undefined || !(isOfSite(link) || path === "")) continue;
      const { text } = await load(path || from);
      if (!text.includes(`id="${anchor}"`)) dead.push(`${from}: ${link}`);
    }
    return dead;
  }

  test("turn every link of a source into one of the site, except to directories", async () => {
    for (const source of new Set(site.pages.map((page) => page.source))) {
      const pages = site.pages.filter((page) => page.source === source);
      const shown = pages.map((page) => site.contentOf(page).html).join("\n");
      const count = linksIn(shown).filter((link) => !link.startsWith("#")).length;
      const leftOut = source.sections.filter(({ heading }) => LEFT_OUT[source.file]?.includes(heading));
      const others = targetsOf({ ...source, sections: leftOut }).length;
      const expected = targetsOf(source).filter((target) => !DIRECTORIES.includes(target)).length - others;
      expect([source.file, count]).toEqual([source.file, expected]);
    }
  });

  test("find a word of every page, and say that there is nothing for nonsense", async () => {
    for (const page of site.pages) {
      const blocks = page.taken.flatMap(({ tokens }) => tokens).filter(({ type }) => type !== "heading");
      const words = blocks
        .map(
          (block) =>
            seenText([block])
              .match(/[A-Za-z]{5,}/g)
              ?.slice(0, 6) ?? [],
        )
        .find(({ length }) => length > 1);
      if (!words) throw new Error(`${page.path} has no words to find`);
      const { text: found } = await load(
        `/docs/search?q=${encodeURIComponent([page.title, ...words].join(" "))}`,
      );
      const hits = found.slice(found.indexOf("<main"));
      expect([page.path, hits.includes(`<a href="/docs/${page.path}`)]).toEqual([page.path, true]);
    }
    const { status, text } = await load(`/docs/search?q=${"<zzqqx>qqzzx ".repeat(50)}`);
    expect([status, text.includes("<zzqqx>"), text.includes("No page")]).toEqual([200, false, true]);
  });

  test.each([
    ["roll out to 500", "roll-out"],
    ["understand ≥", "accuracy"],
    ["troubleshooting", "troubleshooting"],
    ["employee leaves", "people-come-and-go"],
    ["pg_dump", "backup"],
    ["how do I upgrade the gateway", "upgrade"],
    ["leaked key", "people-come-and-go"],
    ["PR cost", "cost-per-merged-pull-request"],
  ])("find for the words %p the page %s among the first five", async (query, path) => {
    const { text } = await load(`/docs/search?q=${encodeURIComponent(query)}`);
    const hits = [...text.slice(text.indexOf("<main")).matchAll(/<li><a href="\/docs\/([^"#]+)/g)];
    expect(hits.slice(0, 5).map(([, page]) => page)).toContain(path);
  });

  test("load nothing from elsewhere, under a policy that lets no page run or send anything else", async () => {
    for (const path of ["/docs", ...TABLE.map((page) => `/docs/${page.path}`), "/docs/search?q=budget"]) {
      const { headers, text } = await load(path);
      const loaded = [...text.matchAll(/<(?:link|script|img)\b[^>]*(?:href|src)="([^"]*)"/g)];
      expect(loaded.filter(([, from = ""]) => !from.startsWith("/docs/"))).toEqual([]);
      expect(text).not.toMatch(/ style="| on[a-z]+="|<style|<script>/);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test.each([
    "/docs/nothing",
    "/docs/README.md",
    "/docs/..%2fpackage.json",
    "/docs/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/docs/files/package.json",
    "/docs/files/gateway/deploy/..%2f..%2fpackage.json",
    "/docs/files/..%2f..%2f..%2fetc%2fpasswd",
    "/docs/files//etc/passwd",
    "/docs/files/",
    "/docs/install/more",
    "/docs/__proto__",
    "/docs/%00",
  ])("%s is not found", async (path) => {
    const { status, text, headers } = await load(path);
    expect([status, headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(text).toContain("No page of the docs has this address.");
  });

  test("have the console's colours", async () => {
    const tokens = await Bun.file(join(ROOT, "shared/tokens.css")).text();
    expect((await load("/docs/docs.css")).text).toContain(tokens);
  });

  test("leave out pages whose files are not there", async () => {
    const { path } = scratch();
    expect((await readSite(path)).pages).toEqual([]);
    await Bun.write(
      join(path, "README.md"),
      "# Tallygate\n\n[a](gateway/README.md) [b](../../etc/passwd.md)\n",
    );
    const { pages, files, contentOf } = await readSite(path);
    expect([pages.length > 0, files.size]).toEqual([true, 0]);
    const [page] = pages;
    expect(page && contentOf(page).html).toBe("<p>a b</p>\n");
  });
});

describe.skipIf(!BROWSER)("the docs in a browser", () => {
  test("fit each reader, are searched without a script of theirs, and print without what is around them", async () => {
    const { page, faults } = await visit(await launchBrowser(), { origin });
    for (const [width, scheme] of [
      [1440, "light"],
      [390, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      for (const path of [
        "/docs",
        "/docs/reports",
        "/docs/settings",
        "/docs/install",
        "/docs/search?q=budget",
      ]) {
        await page.goto(path);
        await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor();
        expect([width, path, await faultsOfAccess(page)]).toEqual([width, path, []]);
        const tooWide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([width, path, tooWide]).toEqual([width, path, 0]);
      }
    }
    expect(await page.locator("h1").evaluate((it) => getComputedStyle(it).fontFamily)).toContain("Inter");
    await page.getByRole("searchbox").fill("retrying");
    await page.getByRole("searchbox").press("Enter");
    await page.getByRole("heading", { name: "Search", exact: true }).waitFor();
    await page.locator(".hits a").first().click();
    await page.locator("article").waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("header").isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });
});
