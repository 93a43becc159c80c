import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { inflated } from "#gateway/agent-metrics/inflate.ts";
import { readExport } from "#gateway/agent-metrics/read-export.ts";
import { GatewayError } from "#gateway/errors.ts";
import { requireJsonLimits } from "#gateway/http/json-limits.ts";
import { cpuMs } from "#test/support/cpu-time.ts";

const MAX = 8 * 1024 * 1024;
const POINTS = '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"dataPoints":[';
const points = (count: number) => Buffer.from(`${POINTS}${"{},".repeat(count - 1)}{}]}}]}]}]}`);

const refusal = (bytes: Uint8Array): string => {
  try {
    requireJsonLimits(bytes);
    readExport(bytes, 10_000);
    return "none";
  } catch (error) {
    return error instanceof GatewayError ? error.type : String(error);
  }
};

describe("an export that would cost much is refused early", () => {
  test.each([
    ["a million points", points(1_000_000), "too_large"],
    ["deep arrays", Buffer.alloc(MAX, "["), "invalid_request"],
    ["deep objects", Buffer.from('{"a":'.repeat(1_000_000)), "invalid_request"],
    ["two million empty objects", Buffer.from(`[${"{},".repeat(2_000_000)}{}]`), "too_large"],
    ["four million numbers", Buffer.from(`{"resourceMetrics":[${"1,".repeat(4_000_000)}1]}`), "too_large"],
    [
      "a string without an end",
      Buffer.from(`{"resourceMetrics":"${"\\".repeat(MAX - 30)}`),
      "invalid_request",
    ],
  ])("%s", async (_, bytes, type) => {
    // Some 30 ms; parsed whole, seconds.
    expect(await cpuMs(() => expect(refusal(bytes)).toBe(type))).toBeLessThan(500);
  });

  test("10,000 points pass, 10,001 do not", () => {
    expect([refusal(points(10_000)), refusal(points(10_001))]).toEqual(["none", "too_large"]);
  });

  test("brackets inside strings have no depth", () => {
    expect(refusal(Buffer.from(JSON.stringify({ resourceMetrics: [], a: '["\\'.repeat(200) })))).toBe("none");
  });
});

describe("gzip", () => {
  const type = (promise: Promise<unknown>) => promise.catch((error: GatewayError) => error.type);

  test("is undone", async () => {
    const bytes = Buffer.from("{}");
    expect(Buffer.from(await inflated(gzipSync(bytes), "GZip", MAX))).toEqual(bytes);
    expect(await inflated(bytes, null, MAX)).toBe(bytes);
    expect(await inflated(bytes, "identity", MAX)).toBe(bytes);
  });

  test("that inflates to more than the limit is left off there, in bounded memory", async () => {
    const bomb = gzipSync(Buffer.alloc(512 * 1024 * 1024));
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    expect(await type(inflated(bomb, "gzip", MAX))).toBe("too_large");
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("of exactly the limit passes", async () => {
    expect((await inflated(gzipSync(Buffer.alloc(1000)), "gzip", 1000)).length).toBe(1000);
    expect(await type(inflated(gzipSync(Buffer.alloc(1001)), "gzip", 1000))).toBe("too_large");
  });

  test("that is damaged is 400, and another coding 415", async () => {
    expect(await type(inflated(Buffer.from("no gzip"), "gzip", MAX))).toBe("invalid_request");
    expect(await type(inflated(gzipSync("{}").subarray(0, 15), "gzip", MAX))).toBe("invalid_request");
    expect(await type(inflated(Buffer.from("{}"), "br", MAX))).toBe("unsupported_media_type");
  });
});

test.each([
  ["", "no body"],
  ["[]", "a list"],
  ["null", "null"],
  ['{"resourceMetrics":{}}', "an object in place of the list"],
  ['{"resourceSpans":[]}', "another signal"],
  ['{"resourceMetrics":[1]}', "a number in the list"],
  ['{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{}}]}]}]}', "a metric without a name"],
  [
    '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"dataPoints":"x"}}]}]}]}',
    "points as text",
  ],
  ['{"resourceMetrics":[]}\xff', "bytes that are no UTF-8"],
])("%p (%s) is no export", (text) => {
  expect(refusal(Buffer.from(text, "latin1"))).toBe("invalid_request");
});

test.each([
  '{"resourceMetrics":[]}',
  '{"resourceMetrics":[{"resource":null,"scopeMetrics":null}],"unknown":1}',
])("%p is an export", (text) => {
  expect(refusal(Buffer.from(text))).toBe("none");
});
