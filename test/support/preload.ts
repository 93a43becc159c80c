/** Loaded before every test file, see bunfig.toml: sets the time limit and the seed, and closes what was registered with `atEnd`. */
import { afterAll, afterEach, beforeEach, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { beginTest, endFile, endTest } from "./at-end.ts";
import { noteUsed } from "./processor-time.ts";
import { ALL } from "./tiers.ts";

const ROOT = join(import.meta.dir, "../..");
// Only what hangs takes as long, on any machine: `until` gives up earlier and says what is missing.
const LIMIT_MS = 300_000;
setDefaultTimeout(LIMIT_MS);

// One process may run several files: it loads this file once and resets the limit with each, so each sets it itself.
Bun.plugin({
  name: "time limit of tests",
  setup({ onLoad }) {
    onLoad({ filter: /\.test\.tsx?$/ }, async ({ path }) => ({
      // On the first line, so that errors name the file's own lines.
      contents: `require("bun:test").setDefaultTimeout(${LIMIT_MS});${await Bun.file(path).text()}`,
      loader: path.endsWith("x") ? "tsx" : "ts",
    }));
  },
});

// A red run is a fault of the change: it tries the same cases each time. With --all, others are tried, and a failure names its seed.
if (!process.env[ALL]) fc.configureGlobal({ seed: 1 });

beforeEach(beginTest);
// The default is for the hooks of test files alone.
afterEach(endTest, LIMIT_MS);
afterAll(async () => {
  await endFile();
  noteUsed(ROOT, Bun.main);
}, LIMIT_MS);
