import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

// `and(a, sql`b or c`)` reads "a and b, or c": a fragment's `or` stands in parentheses.

const ROOT = join(import.meta.dir, "../..");
const STATEMENT = /^\s*(with|select|insert|update|delete|lock|create|alter|drop|truncate|set|do)\b/i;

/** The text of each `sql` template of a file, with `?` in place of its values; templates inside values are walked too. */
function fragments(source: string): string[] {
  const found: string[] = [];
  for (const { 0: start, index } of source.matchAll(/\bsql(?:<[^`;]*?>)?`/g)) {
    found.push(template(source, index + start.length).text);
  }
  return found;
}

/** The template whose first character is at `from`, and where it ends. */
function template(source: string, from: number): { text: string; end: number } {
  let text = "";
  let at = from;
  while (at < source.length && source[at] !== "`") {
    if (source.startsWith("${", at)) {
      at = valueEnd(source, at + 2);
      text += "?";
    } else text += source[at++];
  }
  return { text, end: at + 1 };
}

/** Where the value of a template ends that begins at `from`. */
function valueEnd(source: string, from: number): number {
  let depth = 1;
  let at = from;
  while (at < source.length && depth > 0) {
    const character = source[at];
    if (character === "`") at = template(source, at + 1).end;
    else {
      depth += character === "{" ? 1 : character === "}" ? -1 : 0;
      at++;
    }
  }
  return at;
}

/** What of SQL stands outside parentheses, `case … end` and quotes. */
function outside(sql: string): string {
  let left = sql.replace(/'[^']*'/g, "''");
  for (let before = ""; before !== left; ) {
    before = left;
    left = left.replace(/\([^()]*\)/g, "?").replace(/\bcase\b(?:(?!\bcase\b)[\s\S])*?\bend\b/gi, "?");
  }
  return left;
}

const isOpen = (sql: string): boolean => !STATEMENT.test(sql) && /\bor\b/i.test(outside(sql));

test("no SQL fragment has an `or` outside parentheses", () => {
  expect(isOpen("a = ? or b = ?")).toBe(true);
  expect(isOpen("(a) and b OR (c)")).toBe(true);
  expect(isOpen("(a = ? or b = 'x or y') and case when c or d then 1 end = 1")).toBe(false);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template
  expect(fragments("and(x, sql<boolean>`a ${b(`c ${d}`)} or e`)")).toEqual(["a ? or e"]);
  const found: string[] = [];
  for (const path of new Glob("{gateway,github-app,drizzle,shared}/**/*.{ts,tsx}").scanSync(ROOT)) {
    for (const text of fragments(readFileSync(join(ROOT, path), "utf8"))) {
      if (isOpen(text)) found.push(`${path}: ${text}`);
    }
  }
  expect(found).toEqual([]);
});
