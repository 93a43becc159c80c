import { expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { compressedMeter } from "#gateway/metering/compressed.ts";
import { streamMeter } from "#gateway/metering/meter.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";

const DELTA = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":null}\n\n';
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}';

const CODINGS = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
] as const;

test.each(CODINGS)("the last event of a %s stream counts without the blank line after it", (coding, pack) => {
  const meter = compressedMeter(streamMeter(WIRES.chat, PROVIDERS.openai, { withholdUsage: false }), coding);
  const bytes = pack(Buffer.from(DELTA + USAGE));
  expect(meter.watch(bytes.subarray(0, 9))).toEqual(bytes.subarray(0, 9));
  expect(meter.watch(bytes.subarray(9))).toEqual(bytes.subarray(9));
  expect(meter.rest()).toBeNull();
  expect(meter.reading(true)).toMatchObject({
    usageSource: "provider",
    usage: { uncachedInputTokens: 3, outputTokens: 2 },
  });
});
