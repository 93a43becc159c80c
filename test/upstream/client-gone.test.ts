import { describe, expect, test } from "bun:test";
import { streamMeter } from "#gateway/metering/meter.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES, type Wire } from "#gateway/providers/wires.ts";
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

/** The client reads one chunk of the answer and leaves. */
function left(it: DialectCase): Promise<Settled> {
  const watchdog = startWatchdog(systemClock);
  const wire: Wire = WIRES[it.wire];
  return new Promise<Settled>((resolve, reject) => {
    const relayed = relayStream({
      body: bodyOf(it),
      framed: true,
      endsWithBody: wire.endsWithBody === true,
      meter: streamMeter(wire, PROVIDERS[it.kind], { withholdUsage: false }),
      clock: systemClock,
      watchdog,
      drains: drainPool(),
      abort: () => undefined,
      onContent: () => undefined,
      settle: async (ending, reading) => resolve({ ending, reading }),
    });
    const reader = relayed.getReader();
    reader.read().then(() => reader.cancel(), reject);
  }).finally(watchdog.close);
}

for (const dialect of new Set(CASES.map((it) => it.dialect))) {
  describe(dialect, () => {
    test.each(CASES.filter((it) => it.dialect === dialect).map((it) => [it.name, it] as const))(
      "a client that leaves does not change what is counted: %s",
      async (_, it) => {
        const { ending, reading } = await left(it);
        const { usage, usageSource, responseModel, serviceTier } = it.expect;
        expect(reading).toEqual({ usage, usageSource, responseModel, serviceTier } as Reading);
        expect(ending).toBe("client_gone");
      },
    );
  });
}
