import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const PAGE = await Bun.file(join(ROOT, ".github/CONTRIBUTING.md")).text();

const PATH = /^(?:gateway|github-app|shared|drizzle|test|\.github)\/[\w./*-]*$/;
/** What code may be called: `PROVIDERS`, `priceIds`, `readGatewayConfig`. */
const NAME = /^[A-Za-z_]\w*$/;

type Naming = { path: string; names: string[] };

/** Every path of the page in backticks, with the names in backticks between it and the next path of its item. */
function namingsIn(page: string): Naming[] {
  const items = page.replaceAll(/^```[\s\S]*?^```$/gm, "").split(/\n\n|\n(?=\d\. |- |\|)/);
  return items.flatMap((item) => {
    const found: Naming[] = [];
    for (const [, quoted = ""] of item.matchAll(/`([^`]+)`/g)) {
      if (PATH.test(quoted)) found.push({ path: quoted, names: [] });
      else if (NAME.test(quoted)) found.at(-1)?.names.push(quoted);
    }
    return found;
  });
}

/** The texts of the files that a path names: a file, a folder, or a pattern. */
async function textsAt(path: string): Promise<string[]> {
  const patterns = path.endsWith("/") ? [`${path}**/*`] : [path, `${path}/**/*`];
  const files: string[] = [];
  for (const pattern of patterns) {
    files.push(...(await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT, dot: true }))));
  }
  return await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
}

test("CONTRIBUTING names only paths that exist, and after a path only names that occur there", async () => {
  const namings = namingsIn(PAGE);
  const broken: string[] = [];
  for (const { path, names } of namings) {
    const texts = await textsAt(path);
    if (texts.length === 0) broken.push(path);
    for (const name of names) {
      if (!texts.some((text) => new RegExp(`\\b${name}\\b`).test(text))) broken.push(`${path}: ${name}`);
    }
  }
  expect(broken).toEqual([]);
  expect(namings.length).toBeGreaterThan(40);
  expect(namings.flatMap(({ names }) => names).length).toBeGreaterThan(20);
});

test("each room of the gateway, and each file beside them, is in the picture of the floors", async () => {
  const [, picture = ""] = /^## Floors[\s\S]*?^```$([\s\S]*?)^```$/m.exec(PAGE) ?? [];
  const files = await Array.fromAsync(new Bun.Glob("gateway/*/**/*.{ts,tsx}").scan(ROOT));
  const rooms = new Set(files.map((file) => file.split("/")[1] ?? ""));
  const beside = await Array.fromAsync(new Bun.Glob("*.ts").scan(join(ROOT, "gateway")));
  const names = [...[...rooms].map((room) => `${room}/`), ...beside];
  expect(names.filter((name) => !new RegExp(`[\\s/]${name}`).test(picture))).toEqual([]);
});

test("the glossary has at most 40 words", async () => {
  const page = await Bun.file(join(ROOT, "gateway/GLOSSARY.md")).text();
  const words = page.match(/^\| \*\*/gm) ?? [];
  expect(words.length).toBeWithin(20, 41);
});
