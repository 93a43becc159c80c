import { expect, test } from "bun:test";
import { join } from "node:path";
import { VERSION } from "#shared/version.ts";

const ROOT = join(import.meta.dir, "../..");

test("the code, package.json and the newest release in the changelog have the same version", async () => {
  const { version } = await Bun.file(join(ROOT, "package.json")).json();
  const changelog = await Bun.file(join(ROOT, "CHANGELOG.md")).text();
  const [, released] = /^## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$/m.exec(changelog) ?? [];
  expect([version, released]).toEqual([VERSION, VERSION]);
});

test("the changelog opens with what is not released yet", async () => {
  const changelog = await Bun.file(join(ROOT, "CHANGELOG.md")).text();
  expect(changelog.match(/^## .+$/m)?.[0]).toBe("## Unreleased");
});
