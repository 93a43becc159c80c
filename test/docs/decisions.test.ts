import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

test("every decision that the code refers to has an entry or a chapter of that title", async () => {
  const text = await Bun.file(join(ROOT, "shared/DECISIONS.md")).text();
  const titles = [...text.matchAll(/^## (.+)$|^\*\*\d+\. ([^*]+?)\.\*\*/gm)].map(([, chapter, entry]) =>
    (chapter ?? entry ?? "").toLowerCase(),
  );
  const missing = new Set<string>();
  for await (const file of new Bun.Glob("{gateway,github-app,shared,drizzle}/**/*.{ts,tsx}").scan(ROOT)) {
    const source = await Bun.file(join(ROOT, file)).text();
    for (const [, title = ""] of source.matchAll(/DECISIONS\.md,\s+(?:\*\s+)?([A-Za-z][^:;).\n]*)/g)) {
      if (!titles.includes(title.trim().toLowerCase())) missing.add(`${file}: ${title}`);
    }
  }
  expect([...missing]).toEqual([]);
});

test("each number of a decision is given once, and none is left out", async () => {
  const text = await Bun.file(join(ROOT, "shared/DECISIONS.md")).text();
  const numbers = [...text.matchAll(/^\*\*(\d+)\. /gm)]
    .map(([, number]) => Number(number))
    .sort((a, b) => a - b);
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
});
