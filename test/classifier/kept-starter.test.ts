import { expect, test } from "bun:test";
import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { keptStarter } from "#gateway/classifier/kept-starter.ts";
import { scratch } from "#test/support/embedded.ts";

test("the kept starter is the trained one, and a file that is cut short is made again", () => {
  const { path } = scratch();
  const trained = keptStarter(path);
  const [name = ""] = readdirSync(path);
  const file = join(path, name);
  expect(keptStarter(path)).toEqual(trained);
  truncateSync(file, 1000);
  expect(keptStarter(path)).toEqual(trained);
  expect(readdirSync(path)).toEqual([name]);
  expect(keptStarter(path)).toEqual(trained);
});

test("where it cannot be kept, it is trained", () => {
  expect(keptStarter("/proc/no-such-place")).toEqual(keptStarter());
});
