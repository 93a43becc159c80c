import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/**
 * Paths of this checkout in a file's text: imports, `new URL("./x.ts", import.meta.url)`, `"gateway/main.ts"`, and names
 * of fixtures. A program that a test starts is named like this, too, and its files count as reached.
 */
const PATHS =
  /["'`](#|\.{1,2}\/|(?:gateway|github-app|shared|drizzle|test|\.ci|\.github)\/)([^"'`\s$]+)["'`]/g;

const known = new Map<string, readonly string[]>();

/** The files that a file names, by their paths in the repository. */
function named(file: string): readonly string[] {
  const before = known.get(file);
  if (before !== undefined) return before;
  const found = new Set<string>();
  for (const [, start = "", rest = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(PATHS)) {
    const path = start.startsWith(".")
      ? relative(ROOT, join(ROOT, dirname(file), start + rest))
      : start.replace("#", "") + rest;
    if (path.startsWith("..") || !existsSync(join(ROOT, path))) continue;
    if (statSync(join(ROOT, path)).isFile()) found.add(path);
  }
  known.set(file, [...found]);
  return [...found];
}

/** All files that `file` reaches, itself included. */
export function reachedFrom(file: string): Set<string> {
  const reached = new Set([file]);
  for (const it of reached) if (/\.tsx?$/.test(it)) for (const next of named(it)) reached.add(next);
  return reached;
}

/** The files that differ from a commit, those not committed included. */
export function changedSince(commit: string): string[] {
  const git = (...words: string[]) => {
    const run = Bun.spawnSync(["git", ...words], { cwd: ROOT, stderr: "pipe" });
    if (run.exitCode !== 0) throw new Error(`git ${words.join(" ")}: ${run.stderr.toString().trim()}`);
    return run.stdout.toString().split("\n").filter(Boolean);
  };
  return [
    ...new Set([
      ...git("diff", "--name-only", commit, "--"),
      ...git("ls-files", "--others", "--exclude-standard"),
    ]),
  ];
}
