import { existsSync } from "node:fs";
import { join } from "node:path";

/** Only the npm package has it: the pages, built with it, instead of their sources. */
const PACKAGED_PAGES = join(import.meta.dir, "pages-built");

export const arePagesPackaged = (): boolean => existsSync(join(PACKAGED_PAGES, "index.html"));

/** Where the built pages may be: first in the data directory, where a checkout that cannot be written has them. */
export const pagesDirectories = (dataDirectory: string): readonly [own: string, beside: string] => [
  join(dataDirectory, "pages"),
  arePagesPackaged() ? PACKAGED_PAGES : join(import.meta.dir, "../node_modules/.cache/tallygate-pages"),
];
