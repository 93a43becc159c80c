import { describe, expect, test } from "bun:test";
import { streamMeter } from "#gateway/metering/meter.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import type { Wire } from "#gateway/providers/wire.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import type { Reading } from "#gateway/reading.ts";
import { drainPool } from "#gateway/upstream/drain.ts";
import { type Ending, relayStream } from "#gateway/upstream/relay.ts";
import { startWatchdog } from "#gateway/upstream/watchdog.ts";
import { systemClock } from "#shared/clock.ts";
import { chunksOf, type DialectCase, dialectCases } from "../providers/dialects.ts";

// Without its wire's last event a stream is no whole one, whoever has left; those are the broken ones' suite.
const CASES = dialectCases().filter((it) => it.stream !== null && !it.cut && it.dialect !== "perplexity");

function bodyOf(it: DialectCase): ReadableStream<Uint8Array> {
  const chunks = chunksOf(new TextEncoder().encode(it.stream?.join("")), 37)[Symbol.iterator]();
  return new ReadableStream(
    {
      pull(controller) {
        const next = chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value as Uint8Array);
      },
    },
    { highWaterMark: 0 },
  );
}

type Settled = { ending: Ending; reading: Reading };
type Answer = Pick<DialectCase, "wire" | "kind"> & { body: ReadableStream<Uint8Array> };
type Client = (reader: ReadableStreamDefaultReader<Uint8Array>) => Promise<unknown>;

/** What is settled of the answer when the client does this. */
function settled({ wire: name, kind, body }: Answer, client: Client): Promise<Settled> {
  const watchdog = startWatchdog(systemClock);
  const wire: Wire = WIRES[name];
  return new Promise<Settled>((resolve, reject) => {
    const source = body.getReader();
    const relayed = relayStream({
      read: () => source.read(),
      framed: true,
      endsWithBody: wire.endsWithBody === true,
      meter: streamMeter(wire, PROVIDERS[kind], { withholdUsage: false }),
      clock: systemClock,
      watchdog,
      patience: { readerMs: 120_000, bodyMs: 30_000 },
      idleMs: 300_000,
      drains: drainPool().of("vendor"),
      abort: () => undefined,
      onContent: () => undefined,
      settle: async (ending, reading) => resolve({ ending, reading }),
    });
    client(relayed.getReader()).catch(reject);
  }).finally(watchdog.close);
}

/** Reads one chunk of the answer and leaves. */
const leaves: Client = async (reader) => {
  await reader.read();
  await reader.cancel();
};

/** Reads on until the answer breaks off. */
const stays: Client = async (reader) => {
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow();
};

for (const dialect of new Set(CASES.map((it) => it.dialect))) {
  describe(dialect, () => {
    test.each(CASES.filter((it) => it.dialect === dialect).map((it) => [it.name, it] as const))(
      "a client that leaves does not change what is counted: %s",
      async (_, it) => {
        const { ending, reading } = await settled({ ...it, body: bodyOf(it) }, leaves);
        const { usage, usageSource, responseModel, serviceTier, reportedCostUsd = null } = it.expect;
        expect(reading).toMatchObject({
          usage,
          usageSource,
          responseModel,
          serviceTier,
          reportedCostUsd,
        } as Reading);
        expect(ending).toBe("client_gone");
      },
    );
  });
}

/** A usage event that lacks the blank line after it, and then nothing more. */
function brokenOff(): ReadableStream<Uint8Array> {
  const texts = [
    'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
    'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n',
  ].values();
  return new ReadableStream(
    {
      pull(controller) {
        const next = texts.next();
        if (next.done) controller.error(new Error("reset"));
        else controller.enqueue(new TextEncoder().encode(next.value));
      },
    },
    { highWaterMark: 0 },
  );
}

test.each([
  ["leaves", leaves, "client_gone"],
  ["stays", stays, "upstream_broken"],
] as const)(
  "an event that the provider broke off in counts for a client that %s",
  async (_, client, ending) => {
    const answer = { wire: "chat", kind: "openai", body: brokenOff() } as const;
    expect(await settled(answer, client)).toMatchObject({
      ending,
      reading: { usage: { uncachedInputTokens: 3, outputTokens: 2 } },
    });
  },
);
