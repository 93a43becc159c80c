import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readGatewayConfig, readLauncherConfig } from "#gateway/config.ts";
import { PROVIDERS, type ProviderKind } from "#gateway/providers/catalog.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";

const ROOT = join(import.meta.dir, "../..");
const text = (path: string) => Bun.file(join(ROOT, path)).text();
const README = await text("README.md");
const packaged = JSON.parse(await text("package.json"));
const GUIDES = { "README.md": README, ".github/CONTRIBUTING.md": await text(".github/CONTRIBUTING.md") };

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
const section = /\n## Settings\n(.*?)\n## /s.exec(README)?.[1] ?? "";
const told = section
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name ?? ""));

describe("the README's settings", () => {
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

describe.each(Object.entries(GUIDES))("%s", (path, guide) => {
  test("names only scripts that there are, on the Bun that is pinned", () => {
    const scripts = [...guide.matchAll(/\b(?:bun|bun@[\d.]+) run ([a-z][a-z:-]*)/g)].map(
      ([, name]) => name ?? "",
    );
    expect(scripts).toContain("start");
    expect(scripts).toContain("test");
    expect(scripts.filter((name) => !(name in packaged.scripts))).toEqual([]);
    const versions = [...guide.matchAll(/\bbun@(\d+\.\d+\.\d+)/g)].map(([, version]) => version);
    expect([...new Set(versions)]).toEqual([packaged.engines.bun]);
  });

  test("links only to headings and files that there are", () => {
    const slugs = [...guide.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      (heading ?? "")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );
    const targets = [...guide.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? "");
    const broken = targets.filter((target) => {
      if (/^https?:/.test(target)) return false;
      if (target.startsWith("#")) return !slugs.includes(target.slice(1));
      return !existsSync(join(ROOT, dirname(path), target.replace(/#.*$/, "")));
    });
    expect(broken).toEqual([]);
  });
});
