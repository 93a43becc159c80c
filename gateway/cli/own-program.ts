/** How other processes and programs find our own scripts: from a checkout or package by path, from the compiled program by its name. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = join(import.meta.dir, "../..");

/** Only the npm package has it: the pages, built with it, instead of their sources. */
const PACKAGED_PAGES = join(ROOT, "gateway/pages-built");

export const arePagesPackaged = (): boolean => existsSync(join(PACKAGED_PAGES, "index.html"));

/** Where the built pages may be: first in the data directory, where a checkout that cannot be written has them. */
export const pagesDirectories = (dataDirectory: string): readonly [own: string, beside: string] => [
  join(dataDirectory, "pages"),
  arePagesPackaged() ? PACKAGED_PAGES : join(ROOT, "node_modules/.cache/tallygate-pages"),
];

/** Before a script's path below the root: the compiled program (`gateway/deploy/binary`) runs that script. */
export const RUN = "__run";
/** Before a file's path below the root: the compiled program prints the file's address. */
export const LOCATE = "__locate";

/** A command for a script of ours, without its directory's `.env`. The compiled program names itself: files move. */
export const commandOf = (script: string): string[] =>
  Bun.isStandaloneExecutable
    ? [process.execPath, RUN, relative(ROOT, script)]
    : [process.execPath, "--no-env-file", script];

/** What people type to start Tallygate: a script of the checkout, or the program that is installed. */
export const START_COMMAND = arePagesPackaged() ? "tallygate start" : "bun run start";

/** Whether a path is in the cache of `npx`, which npm may clear. */
export const isOfNpx = (path: string): boolean => /[\\/]_npx[\\/]/.test(path);

/** JavaScript for another program's plugin file: exports `name` of a module of ours. */
export function exportOf(name: string, module: string): string {
  if (!Bun.isStandaloneExecutable) {
    return `export { ${name} } from ${JSON.stringify(pathToFileURL(module).href)};\n`;
  }
  const words = JSON.stringify([LOCATE, relative(ROOT, module)]);
  return [
    `import { execFileSync } from "node:child_process";`,
    `const address = execFileSync(${JSON.stringify(process.execPath)}, ${words}, { encoding: "utf8" });`,
    `export const { ${name} } = await import(address);\n`,
  ].join("\n");
}
