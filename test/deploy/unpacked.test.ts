import { beforeEach, expect, test } from "bun:test";
import { chownSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { unpacked } from "#gateway/deploy/binary/unpacked.ts";
import { scratch } from "#test/support/embedded.ts";

const isRoot = process.getuid?.() === 0;

const archive = {
  name: "0.2.0-0123.zst",
  bytes: async () => {
    const tar = await new Bun.Archive({ "a/b.txt": "content" }).bytes();
    return new Uint8Array(Bun.zstdCompressSync(tar));
  },
};

let cache: string;
beforeEach(() => {
  cache = join(scratch().path, "cache");
  process.env["XDG_CACHE_HOME"] = cache;
});

test("processes that start at the same time find one directory, with nothing left beside it", async () => {
  const [first, second] = await Promise.all([unpacked(archive, null), unpacked(archive, null)]);
  expect(second).toBe(first);
  expect(readFileSync(join(first, "a/b.txt"), "utf8")).toBe("content");
  expect(readdirSync(join(cache, "tallygate"))).toEqual(["0.2.0-0123"]);
});

test("what was cut short leaves nothing that a later start would take for whole", async () => {
  const bytes = async () => (await archive.bytes()).slice(0, -1);
  await expect(unpacked({ ...archive, bytes }, null)).rejects.toThrow();
  expect(readdirSync(join(cache, "tallygate"))).toEqual([]);
});

test("a start without a directory for caches of its own uses another", async () => {
  const data = scratch().path;
  await Bun.write(cache, "a file");
  await expect(unpacked(archive, null)).rejects.toThrow();
  expect(await unpacked(archive, data)).toStartWith(data);
});

// Only root can give files away.
test.if(isRoot)("files that another user could have put there are not run", async () => {
  const directory = await unpacked(archive, null);
  chownSync(directory, 65534, 65534);
  await expect(unpacked(archive, null)).rejects.toThrow("belongs to another user");
});
