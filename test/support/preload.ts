/** Loaded before every test file, see bunfig.toml: whatever a test or a file registered with `atEnd` is closed. */
import { afterAll, afterEach, beforeEach, setDefaultTimeout } from "bun:test";
import { beginTest, endFile, endTest } from "./at-end.ts";

// Only what hangs takes as long, on any machine: `until` gives up earlier and says what is missing.
const LIMIT_MS = 300_000;
setDefaultTimeout(LIMIT_MS);

beforeEach(beginTest);
// The default is for the hooks of test files alone.
afterEach(endTest, LIMIT_MS);
afterAll(endFile, LIMIT_MS);
