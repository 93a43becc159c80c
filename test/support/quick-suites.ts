import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dir, "../..");
/** Modules that start a process, a database or a browser. */
const STARTERS = /^test\/support\/(agents|browser|checkout|child|clickhouse|embedded|postgres)\.ts$/;
/** Suites that start nothing and still take long: much computing, or much waiting. */
const LONG = /^test\/(classifier|deploy|faults|wire)\//;

const transpilers = {
  ts: new Bun.Transpiler({ loader: "ts" }),
  tsx: new Bun.Transpiler({ loader: "tsx" }),
};
const known = new Map<string, boolean>();

/** Whether a test file, by its path in the repository, starts nothing and computes little. */
export const isQuick = (file: string): boolean => !LONG.test(file) && !startsSomething(file);

function startsSomething(file: string): boolean {
  const found = known.get(file);
  if (found !== undefined) return found;
  // While its imports are read, for those that lead back to it.
  known.set(file, STARTERS.test(file));
  const answer = STARTERS.test(file) || testImportsOf(file).some(startsSomething);
  known.set(file, answer);
  return answer;
}

/** The modules of the tests that a file imports; types are no imports. */
function testImportsOf(file: string): string[] {
  const transpiler = file.endsWith("x") ? transpilers.tsx : transpilers.ts;
  return transpiler
    .scanImports(readFileSync(join(ROOT, file), "utf8"))
    .map(({ path }) =>
      path.startsWith("#test/") ? path.slice(1) : relative(ROOT, join(ROOT, dirname(file), path)),
    )
    .filter((path) => /^test\/.*\.tsx?$/.test(path) && existsSync(join(ROOT, path)));
}
