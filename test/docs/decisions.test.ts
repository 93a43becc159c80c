import { expect, test } from "bun:test";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const FOLDER = join(ROOT, "shared/decisions");

const files = (await Array.fromAsync(new Bun.Glob("*.md").scan(FOLDER)))
  .filter((file) => file !== "README.md")
  .sort();
const pages = await Promise.all(
  files.map(async (file) => ({ file, text: await Bun.file(join(FOLDER, file)).text() })),
);
/** A title, and below it the status and the day on which it was given. */
const STATUS = /^# .+\n\nStatus: (?:accepted|on trial), (\d{4}-\d{2}-\d{2})\n/;
const dateOf = (text: string): string => STATUS.exec(text)?.[1] ?? "";
const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? "";

test("a decision is a numbered page of at most 40 lines: title, status, date, context, decision, consequence", () => {
  const faulty = pages.filter(({ file, text }) => {
    const headings = [...text.matchAll(/^#+ .+$/gm)].map(([heading]) => heading);
    const [, ...parts] = headings;
    return (
      !/^\d{4}-[a-z0-9-]+\.md$/.test(file) ||
      !STATUS.test(text) ||
      parts.join() !== "## Context,## Decision,## Consequence" ||
      text.split("\n").length > 41 ||
      dateOf(text) > new Date().toISOString()
    );
  });
  expect(faulty.map(({ file }) => file)).toEqual([]);
  expect(files.length).toBeGreaterThan(50);
});

test("every number and every title is given once", () => {
  const numbers = files.map((file) => basename(file).slice(0, 4));
  const titles = pages.map(({ text }) => titleOf(text));
  expect([new Set(numbers).size, new Set(titles).size]).toEqual([files.length, files.length]);
});

test("the README lists every page by its title", async () => {
  const list = await Bun.file(join(FOLDER, "README.md")).text();
  const lines = pages.map(({ file, text }) => `- [${titleOf(text)}](${file})`);
  expect(lines.filter((line) => !list.includes(`${line}\n`))).toEqual([]);
  expect(list.match(/^- /gm)?.length).toBe(pages.length);
});

test("every decision that a comment names has a page of that title", async () => {
  const titles = new Set(pages.map(({ text }) => titleOf(text)));
  const missing: string[] = [];
  for await (const file of new Bun.Glob("{gateway,github-app,shared,drizzle}/**/*.{ts,tsx}").scan(ROOT)) {
    const source = (await Bun.file(join(ROOT, file)).text()).replaceAll(/\n\s*(?:\*|\/\/)\s*/g, " ");
    for (const [, title = ""] of source.matchAll(/\(decision: ([^)\n]+)\)/g)) {
      if (!titles.has(title)) missing.push(`${file}: ${title}`);
    }
  }
  expect(missing).toEqual([]);
});
