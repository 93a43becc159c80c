import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readGatewayConfig, readLauncherConfig } from "#gateway/config.ts";
import { PROVIDERS, type ProviderKind } from "#gateway/providers/catalog.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { anchorsOf, readPages } from "#test/support/pages.ts";

const ROOT = join(import.meta.dir, "../..");
const text = (path: string) => Bun.file(join(ROOT, path)).text();
const packaged = JSON.parse(await text("package.json"));
const pages = await readPages();
const CONTRIBUTING = ".github/CONTRIBUTING.md";
const GUIDES = [...pages, [CONTRIBUTING, await text(CONTRIBUTING)] as const];

/** The names of settings that a process complains of, or would, as its fault list tells them. */
function settingsRead(): Set<string> {
  const asked = new Set<string>();
  const env = new Proxy<Record<string, string>>(
    {},
    {
      get: (_target, name) => {
        asked.add(String(name));
        return undefined;
      },
    },
  );
  for (const read of [readGatewayConfig, readLauncherConfig, readGithubAppConfig]) {
    try {
      read(env);
    } catch {
      // Some are required; which ones are asked for is all that counts here.
    }
  }
  const vendors = Object.keys(PROVIDERS).flatMap((kind) => PROVIDERS[kind as ProviderKind].envKey ?? []);
  return new Set([...[...asked].filter((name) => /^[A-Z_]+$/.test(name)), ...vendors]);
}

/** The first column of the table of settings. */
const section = /\n## Settings\n(.*?)\n## /s.exec(pages.get("gateway/README.md") ?? "")?.[1] ?? "";
const told = section
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name ?? ""));

describe("the table of settings", () => {
  test("all exist", () => {
    const read = settingsRead();
    expect(told.length).toBeGreaterThan(20);
    expect(told.filter((name) => !read.has(name))).toEqual([]);
  });

  test("are all that there are, but for further vendors' keys", () => {
    const vendors = Object.values(PROVIDERS).map(({ envKey }) => envKey as string | null);
    const inner = /^TALLYGATE_/;
    const untold = [...settingsRead()].filter(
      (name) => !told.includes(name) && !vendors.includes(name) && !inner.test(name),
    );
    expect(untold).toEqual([]);
  });
});

describe.each(GUIDES)("%s", (path, guide) => {
  test("names only scripts that there are, on the Bun that is pinned", () => {
    const scripts = [...guide.matchAll(/\b(?:bun|bun@[\d.]+) run ([a-z][a-z:-]*)/g)].map(
      ([, name]) => name ?? "",
    );
    if (["README.md", CONTRIBUTING].includes(path)) {
      expect(scripts).toContain("start");
      expect(scripts).toContain("test");
    }
    expect(scripts.filter((name) => !(name in packaged.scripts))).toEqual([]);
    const versions = new Set([...guide.matchAll(/\bbun@(\d+\.\d+\.\d+)/g)].map(([, version]) => version));
    versions.delete(packaged.engines.bun);
    expect([...versions]).toEqual([]);
  });

  test("links only to headings and files that there are", async () => {
    const broken: string[] = [];
    for (const [, target = ""] of guide.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [place = "", anchor] = target.split("#");
      const file = place === "" ? path : join(dirname(path), place);
      const found = existsSync(join(ROOT, file));
      if (!found || (anchor && !anchorsOf(await text(file)).includes(anchor))) broken.push(target);
    }
    expect(broken).toEqual([]);
  });
});
