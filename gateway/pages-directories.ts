import { join } from "node:path";

/** Where the built pages may be: first in the data directory, where a checkout that cannot be written has them. */
export const pagesDirectories = (dataDirectory: string): readonly [own: string, checkout: string] => [
  join(dataDirectory, "pages"),
  join(import.meta.dir, "../node_modules/.cache/tallygate-pages"),
];
