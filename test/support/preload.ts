/** Loaded before every test file, see bunfig.toml: whatever a test or a file registered with `atEnd` is closed. */
import { afterAll, afterEach, beforeEach } from "bun:test";
import { beginTest, endFile, endTest } from "./at-end.ts";

beforeEach(beginTest);
afterEach(endTest);
afterAll(endFile);
