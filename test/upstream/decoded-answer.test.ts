import { afterAll, expect, test } from "bun:test";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { residentBytes, settledBytes } from "#test/support/resident-bytes.ts";

const MEBIBYTE = 1024 ** 2;
const brotli = (bytes: Uint8Array) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const CODINGS = {
  gzip: gzipSync,
  "X-Gzip": gzipSync,
  deflate: deflateSync,
  br: brotli,
  zstd: zstdCompressSync,
};

let served: { bytes: Uint8Array<ArrayBuffer>; coding: string };
const vendor = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  development: false,
  fetch: () => new Response(served.bytes, { headers: { "content-encoding": served.coding } }),
});
afterAll(() => vendor.stop(true));

const reach = createOutboundFetch({
  resolveOrigin: () => [{ origin: null, host: vendor.url.host, serverName: "" }],
});
const asked = (decompress?: boolean) =>
  reach(
    { url: vendor.url.href, allowPrivateNetwork: true },
    {
      method: "GET",
      headers: {},
      signal: new AbortController().signal,
      ...(decompress === undefined ? {} : { decompress }),
    },
  );

test.each(Object.entries(CODINGS))(
  "an answer in %s is decoded, unless it is not to be",
  async (coding, pack) => {
    const plain = Buffer.from(JSON.stringify(Array.from({ length: 50_000 }, (_, n) => `word ${n}`)));
    served = { bytes: pack(plain), coding };
    expect(Buffer.from(await (await asked()).bytes()).equals(plain)).toBe(true);
    expect(Buffer.from(await (await asked(false)).bytes()).equals(served.bytes)).toBe(true);
  },
);

const NOISE = crypto.getRandomValues(new Uint8Array(40_000));
test.each([
  ["gzip", "cut", gzipSync(NOISE).subarray(0, -9)],
  ["br", "cut", brotli(NOISE).subarray(0, -9)],
  ["gzip", "plain", Buffer.from("{}")],
  ["br", "plain", Buffer.from("{}")],
  ["zstd", "plain", Buffer.from("{}")],
])("an answer in %s that is %s breaks off", async (coding, _, bytes) => {
  served = { bytes: Buffer.from(bytes), coding };
  const answer = await asked();
  await expect(answer.bytes()).rejects.toThrow();
});

test("an unknown coding stays", async () => {
  served = { bytes: Buffer.from("abc"), coding: "x-unknown" };
  expect(await (await asked()).text()).toBe("abc");
});

test.if(HAS_PROC)("the rest of an answer that inflates is not decoded once its reader has left", async () => {
  served = { bytes: brotli(Buffer.alloc(256 * MEBIBYTE, " ")), coding: "br" };
  const before = await settledBytes(process.pid);
  const reader = (await asked()).body?.getReader();
  expect((await reader?.read())?.value?.byteLength).toBeLessThan(MEBIBYTE);
  await reader?.cancel();
  // Bun would decode it all before it got to the next answer.
  await (await asked(false)).bytes();
  expect((await residentBytes(process.pid)) - before).toBeLessThan(96 * MEBIBYTE);
});
