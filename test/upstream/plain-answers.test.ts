import { expect, test } from "bun:test";
import { plainMeter } from "#gateway/metering/plain-meter.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import type { Reading } from "#gateway/reading.ts";
import { drainPool } from "#gateway/upstream/drain.ts";
import { type Ending, relayStream } from "#gateway/upstream/relay.ts";
import { startWatchdog } from "#gateway/upstream/watchdog.ts";
import { systemClock } from "#shared/clock.ts";

const PIECES = [
  '{"choices":[{"message":{"content":"',
  "word ".repeat(1000),
  '"}}],"usage":{"prompt_tokens":14,',
  '"completion_tokens":33}}',
  "\n",
  "  ",
] as const;

type Settled = { ending: Ending; reading: Reading };

/** The relay of an answer in pieces, whose record is stored when `stored` resolves. */
function relayed(
  pieces: readonly string[],
  { framed = true, stored = Promise.resolve(), breaks = false } = {},
) {
  const settled = Promise.withResolvers<Settled>();
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  const watchdog = startWatchdog(systemClock);
  const body = relayStream({
    read: async () => {
      const value = left.shift();
      if (value) return { done: false, value };
      if (breaks) throw new Error("reset");
      return { done: true, value: undefined };
    },
    framed,
    endsWithBody: framed,
    noLastEvent: true,
    meter: plainMeter((outline) => WIRES.chat.readAnswer(outline, PROVIDERS.openai), null),
    clock: systemClock,
    watchdog,
    patience: { readerMs: 120_000, bodyMs: 30_000 },
    idleMs: 300_000,
    drains: drainPool().of("vendor"),
    abort: () => undefined,
    onContent: () => undefined,
    settle: (ending, reading) => {
      settled.resolve({ ending, reading });
      return stored;
    },
  });
  return { reader: body.getReader(), settled: settled.promise.finally(watchdog.close) };
}

const decoder = new TextDecoder();

test("the end of a plain answer is not sent before its record is stored", async () => {
  const stored = Promise.withResolvers<void>();
  const { reader, settled } = relayed(PIECES, { stored: stored.promise });
  const got: string[] = [];
  const all = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      got.push(decoder.decode(part.value));
  })();
  const { ending, reading } = await settled;
  expect(ending).toBe("complete");
  expect(reading).toMatchObject({
    usage: { uncachedInputTokens: 14, outputTokens: 33 },
    usageSource: "provider",
  });
  // The last brace, without which it is no JSON, has not been sent.
  expect(got.join("")).not.toContain("33}}");
  stored.resolve();
  await all;
  expect(got.join("")).toBe(PIECES.join(""));
});

test("the last part of a text is not sent before its record is stored", async () => {
  const stored = Promise.withResolvers<void>();
  const { reader, settled } = relayed(["1\n", "00:00:00,000 --> 00:00:01,000\n", "end\n"], {
    stored: stored.promise,
  });
  expect(decoder.decode((await reader.read()).value)).toBe("1\n");
  expect(decoder.decode((await reader.read()).value)).toContain("-->");
  const last = reader.read();
  await settled;
  expect(await Promise.race([last, Promise.resolve("withheld")])).toBe("withheld");
  stored.resolve();
  expect(decoder.decode((await last).value)).toBe("end\n");
});

test("an answer whose length came short is broken, even if its JSON is whole", async () => {
  const { reader, settled } = relayed(PIECES, { breaks: true });
  const all = (async () => {
    while (!(await reader.read()).done);
  })();
  await expect(all).rejects.toThrow("ended early");
  expect((await settled).ending).toBe("upstream_broken");
});

test.each([
  [PIECES, "complete"],
  [PIECES.slice(0, 3), "upstream_broken"],
] as const)("an unframed answer is complete only if its JSON is (%#)", async (pieces, expected) => {
  const { reader, settled } = relayed(pieces, { framed: false });
  const all = (async () => {
    while (!(await reader.read()).done);
  })();
  if (expected === "complete") await all;
  else await expect(all).rejects.toThrow("ended early");
  expect((await settled).ending).toBe(expected);
});

test("a client that leaves does not change what is counted", async () => {
  const { reader, settled } = relayed(PIECES);
  await reader.read();
  await reader.cancel();
  expect(await settled).toMatchObject({
    ending: "client_gone",
    reading: { usage: { uncachedInputTokens: 14, outputTokens: 33 }, usageSource: "provider" },
  });
});
