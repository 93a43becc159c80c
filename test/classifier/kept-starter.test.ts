import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keptStarter } from "#gateway/classifier/kept-starter.ts";
import { scratch } from "#test/support/embedded.ts";

const KEPT = join(import.meta.dir, "../../node_modules/.cache/tallygate-starter");
const CUT = 1000;

// Training takes a second of processor time: it is done twice, once where nothing can be kept.
test("the kept starter is the trained one, also where it cannot be kept, and a file that is cut short is made again", () => {
  const kept = keptStarter();
  const trained = keptStarter("/proc/no-such-place");
  expect(kept).toEqual(trained);
  const { path } = scratch();
  const names = readdirSync(KEPT).filter((name) => name.endsWith(".bin"));
  for (const name of names) writeFileSync(join(path, name), readFileSync(join(KEPT, name)).subarray(0, CUT));
  expect(keptStarter(path)).toEqual(trained);
  expect(readdirSync(path).sort()).toEqual(names.sort());
  // One of them is this build's.
  expect(names.filter((name) => statSync(join(path, name)).size > CUT)).toHaveLength(1);
  expect(keptStarter(path)).toEqual(trained);
});
