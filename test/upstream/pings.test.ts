import { expect, test } from "bun:test";
import { opaqueMeter } from "#gateway/metering/meter.ts";
import { relayStream } from "#gateway/upstream/relay.ts";

test("a client that waited gets a ping where its provider sends what has no counterpart", async () => {
  let nowMs = 0;
  const chunks = [1_000, 12_000, 13_000, 30_000];
  const meter = { ...opaqueMeter({} as never), watch: () => null };
  const stream = relayStream({
    read: async () => {
      nowMs = chunks.shift() ?? nowMs;
      return chunks.length > 0
        ? { done: false, value: new TextEncoder().encode("x") }
        : { done: true, value: undefined };
    },
    framed: true,
    endsWithBody: true,
    meter,
    ping: new TextEncoder().encode(": ping\n\n"),
    clock: { now: () => new Date(), monotonicMs: () => nowMs },
    watchdog: { watch() {}, release() {} },
    patience: { readerMs: 1_000, bodyMs: 1_000 },
    idleMs: 1_000,
    drains: null,
    abort() {},
    onContent() {},
    settle: async () => undefined,
  } as never);
  expect(await new Response(stream).text()).toBe("\n: ping\n\n");
});
