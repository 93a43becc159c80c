import type { DirectoryOptions } from "#gateway/stores/directory/directory.ts";

/** For a directory that starts from the database alone. */
export const NO_SNAPSHOT: DirectoryOptions["snapshot"] = {
  found: "missing",
  keep: () => undefined,
  writtenAtMs: () => Number.POSITIVE_INFINITY,
};
