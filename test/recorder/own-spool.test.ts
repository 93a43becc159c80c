import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createSpool } from "#gateway/recorder/own-spool.ts";
import { keptLog } from "#test/support/embedded.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";

afterAll(removeOwnDirectories);

test("a spool that cannot be made leaves nothing behind, or every start on a full disk would leave more", () => {
  const directory = ownDirectory();
  const tooSmall = { directory, sync: "normal", bytesMax: 2048, log: keptLog(), synced: () => {} } as const;
  expect(() => createSpool(tooSmall)).toThrow(`The spool in ${directory} cannot be written`);
  expect(readdirSync(directory)).toEqual([]);
});
