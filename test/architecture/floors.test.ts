import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** The floors of the house, highest first; the first pattern that matches a file decides. */
const FLOORS: readonly [floor: number, pattern: RegExp][] = [
  [
    7,
    /^gateway\/(main|gateway|app|config|common-settings|deps)\.ts$|^gateway\/(cli|deploy)\/|^github-app\/[^/]+\.ts$/,
  ],
  [6, /^gateway\/(surfaces|admin|pages)\//],
  [5, /^gateway\/(plugins|identity)\//],
  [
    4,
    /^gateway\/(exchange|reporting|report-thread)\.ts$|^gateway\/(agent-metrics|batch|mcp|hooks|digest|alerts|repricing|bills|export)\//,
  ],
  [3, /^gateway\/(upstream|stores|recorder|workers)\/|^github-app\//],
  [2, /^gateway\//],
  [1, /^drizzle\//],
  [0, /^shared\//],
];

/** Nouns that every room of the gateway may know. */
const NOUNS = /^gateway\/(call|surface-facts|errors|directory|google-format|reading|price-facts)\.ts$/;

const floorOf = (file: string) => FLOORS.find(([, pattern]) => pattern.test(file))?.[0];
const roomOf = (file: string) => file.split("/").slice(0, 2).join("/");

type Import = { from: string; to: string };

async function sourceImports(): Promise<Import[]> {
  const found: Import[] = [];
  for await (const file of new Bun.Glob("{gateway,github-app,shared,drizzle}/**/*.{ts,tsx}").scan(ROOT)) {
    const text = await Bun.file(join(ROOT, file)).text();
    for (const match of text.matchAll(/(?:from|import)[ (]"((?:\.{1,2}\/|#)[^"]+)"/g)) {
      const path = match[1] ?? "";
      const to = path.startsWith("#") ? path.slice(1) : relative(ROOT, join(ROOT, dirname(file), path));
      found.push({ from: file, to });
    }
  }
  return found;
}

describe("the house", async () => {
  const imports = await sourceImports();
  const broken = (rule: (it: Import) => boolean) =>
    imports.filter(rule).map(({ from, to }) => `${from} → ${to}`);

  test("every source file stands on a floor", async () => {
    const homeless = imports
      .flatMap(({ from, to }) => [from, to])
      .filter((file) => floorOf(file) === undefined);
    expect([...new Set(homeless)]).toEqual([]);
  });

  test("a file imports its own floor or a lower one, never a higher one", () => {
    expect(broken(({ from, to }) => (floorOf(to) ?? 0) > (floorOf(from) ?? 0))).toEqual([]);
  });

  test("rooms of pure decisions do not import each other: they meet in the stories above", () => {
    const pure = (file: string) => floorOf(file) === 2 && !NOUNS.test(file);
    expect(broken(({ from, to }) => pure(from) && pure(to) && roomOf(from) !== roomOf(to))).toEqual([]);
  });

  test("the pages know the gateway by its API and the shared schemas alone, and nothing imports them", () => {
    const isPage = (file: string) => file.startsWith("gateway/pages/");
    expect(
      broken(
        ({ from, to }) =>
          (isPage(from) && !isPage(to) && !to.startsWith("shared/")) ||
          (!isPage(from) && isPage(to) && from !== "gateway/cli/pages.ts"),
      ),
    ).toEqual([]);
  });

  test("the gateway and the GitHub App meet in the database only", () => {
    expect(
      broken(
        ({ from, to }) =>
          (from.startsWith("gateway/") && to.startsWith("github-app/")) ||
          (from.startsWith("github-app/") && to.startsWith("gateway/")),
      ),
    ).toEqual([]);
  });

  test("crossing a top-level folder reads #folder, staying inside reads a relative path", async () => {
    const wrong: string[] = [];
    for await (const file of new Bun.Glob("{gateway,github-app,shared,drizzle}/**/*.{ts,tsx}").scan(ROOT)) {
      const text = await Bun.file(join(ROOT, file)).text();
      const top = file.split("/")[0];
      for (const match of text.matchAll(/from "((?:\.{1,2}\/|#)[^"]+)"/g)) {
        const path = match[1] ?? "";
        const target = path.startsWith("#") ? path.slice(1) : relative(ROOT, join(ROOT, dirname(file), path));
        if (path.startsWith("#") === (target.split("/")[0] === top)) wrong.push(`${file}: ${path}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("folders", async () => {
  const edges = siblingEdges(await sourceImports());

  test("of two folders side by side, each with all that is in it, at most one imports the other", () => {
    const mutual = [...edges].flatMap(([from, targets]) =>
      [...targets].filter((to) => from < to && edges.get(to)?.has(from)).map((to) => `${from} ↔ ${to}`),
    );
    expect(mutual.sort()).toEqual([]);
  });

  test("no longer way over folders side by side leads back to where it began", () => {
    const reached = (from: string, seen = new Set<string>()): Set<string> => {
      for (const to of edges.get(from) ?? []) if (!seen.has(to)) reached(to, seen.add(to));
      return seen;
    };
    expect([...edges.keys()].filter((folder) => reached(folder).has(folder))).toEqual([]);
  });
});

/**
 * What each folder imports of its neighbours. A folder's own files and its inner folders may know each other, as a noun
 * and what is made of it do; there, the linter's rule against circles of files is enough.
 */
function siblingEdges(imports: readonly Import[]): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [a, b] = [dirname(from).split("/"), dirname(to).split("/")];
    const parting = a.findIndex((name, index) => name !== b[index]);
    if (parting === -1 || parting >= b.length) continue;
    const [mine, theirs] = [a, b].map((path) => path.slice(0, parting + 1).join("/"));
    if (mine && theirs) edges.set(mine, (edges.get(mine) ?? new Set()).add(theirs));
  }
  return edges;
}

/** The rooms of the GitHub App, highest first. */
const APP_FLOORS: readonly [floor: number, pattern: RegExp][] = [
  [3, /^github-app\/(main|app|server|metrics|github-access)\.ts$/],
  [2, /^github-app\/(inbox|reconcile|redeliver|feedback|setup)\//],
  [1, /^github-app\/(github|stores)\//],
  [0, /^github-app\/(facts|state)\//],
];

describe("the GitHub App", async () => {
  const within = (await sourceImports()).filter(
    ({ from, to }) => from.startsWith("github-app/") && to.startsWith("github-app/"),
  );
  const appFloorOf = (file: string) => APP_FLOORS.find(([, pattern]) => pattern.test(file))?.[0];
  const broken = (rule: (it: Import) => boolean) =>
    within.filter(rule).map(({ from, to }) => `${from} → ${to}`);

  test("every file stands in a room", () => {
    expect(broken(({ from, to }) => appFloorOf(from) === undefined || appFloorOf(to) === undefined)).toEqual(
      [],
    );
  });

  test("a file imports its own floor or a lower one", () => {
    expect(broken(({ from, to }) => (appFloorOf(to) ?? 0) > (appFloorOf(from) ?? 0))).toEqual([]);
  });

  test("stories do not import each other", () => {
    expect(
      broken(({ from, to }) => appFloorOf(to) === 2 && appFloorOf(from) === 2 && roomOf(from) !== roomOf(to)),
    ).toEqual([]);
  });
});

describe("every room stays readable", () => {
  test("no source file is over 250 lines", async () => {
    const long: string[] = [];
    for await (const file of new Bun.Glob("{gateway,github-app,shared,drizzle}/**/*.{ts,tsx}").scan(ROOT)) {
      const lines = (await Bun.file(join(ROOT, file)).text()).split("\n").length - 1;
      // The sums of reports are one table family.
      if (lines > (file === "drizzle/schema/rollups.ts" ? 300 : 250)) long.push(`${file}: ${lines}`);
    }
    expect(long).toEqual([]);
  });

  test("an exported name is declared in one file, and so has one meaning", async () => {
    const EXPORTED =
      /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|type|interface) (\w+)/gm;
    const files = new Map<string, Set<string>>();
    // The pages are a program of their own, which runs in browsers.
    const programOf = (file: string) => (file.startsWith("gateway/pages/") ? "page " : "");
    for await (const file of new Bun.Glob("{gateway,github-app,shared,drizzle}/**/*.{ts,tsx}").scan(ROOT)) {
      const text = await Bun.file(join(ROOT, file)).text();
      for (const [, name = ""] of text.matchAll(EXPORTED)) {
        const known = programOf(file) + name;
        files.set(known, (files.get(known) ?? new Set()).add(file));
      }
    }
    expect(files.size).toBeGreaterThan(1_000);
    const twice = [...files].filter(([, declaring]) => declaring.size > 1);
    expect(twice.map(([name, declaring]) => `${name}: ${[...declaring].join(", ")}`)).toEqual([]);
  });

  test("the environment is read in shared/env.ts, and for proxies in shared/loopback.ts, alone", async () => {
    const readers: string[] = [];
    for await (const file of new Bun.Glob("{gateway,github-app,shared,drizzle}/**/*.{ts,tsx}").scan(ROOT)) {
      if (/(?:process|Bun)\.env\b/.test(await Bun.file(join(ROOT, file)).text())) readers.push(file);
    }
    expect(readers.sort()).toEqual(["shared/env.ts", "shared/loopback.ts"]);
  });
});
