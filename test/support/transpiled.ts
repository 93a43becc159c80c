import { join } from "node:path";

/**
 * For the environment of every process that is run by Bun: large files that one of them has transpiled are not
 * transpiled by the next. Without a home, which the suites do not give, Bun would keep nothing.
 */
export const TRANSPILED = {
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(import.meta.dir, "../../node_modules/.cache/transpiled"),
};
