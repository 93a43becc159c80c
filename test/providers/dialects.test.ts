import { describe, expect, test } from "bun:test";
import { type Meter, streamMeter } from "#gateway/metering/meter.ts";
import { plainMeter } from "#gateway/metering/plain-meter.ts";
import { priceCall } from "#gateway/pricing/price.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import type { Wire } from "#gateway/providers/wire.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import type { Reading } from "#gateway/reading.ts";
import { chunksOf, type DialectCase, dialectCases } from "./dialects.ts";

const CASES = dialectCases();
const prices = priceBook([], PROVIDERS);
const utf8 = new TextEncoder();

function meterOf({ kind, wire }: DialectCase, withholdUsage = false): Meter {
  return streamMeter(WIRES[wire], PROVIDERS[kind], { withholdUsage });
}

function play(it: DialectCase, meter: Meter, chunkSize: number): { reading: Reading; passed: Uint8Array } {
  const passed: Uint8Array[] = [];
  for (const chunk of chunksOf(utf8.encode(it.stream?.join("")), chunkSize)) {
    const out = meter.watch(chunk);
    if (out) passed.push(out);
  }
  const rest = meter.rest();
  if (rest) passed.push(rest);
  return { reading: meter.reading(!it.cut), passed: Buffer.concat(passed) };
}

function expectReading(it: DialectCase, reading: Reading): void {
  const { usage, usageSource, responseModel, serviceTier, costUsd, tokenCostUsd } = it.expect;
  const { reportedCostUsd = null, pending } = it.expect;
  const { failure, keptId: _, keptIds: __, ...read } = reading;
  expect(read).toEqual({
    usage,
    usageSource,
    responseModel,
    serviceTier,
    reportedCostUsd,
    ...(pending && { pending }),
  } as Reading);
  if (it.expect.error) expect(failure).toBeDefined();
  const priced = priceCall(
    prices.priceOf({ kind: it.kind, name: it.kind }, it.model, it.atMs),
    reading.usage,
  );
  // By the price list, whatever the provider reports.
  expect(priced.costUsd).toBe(costUsd);
  if (tokenCostUsd !== undefined) expect(priced.tokenCostUsd).toBe(tokenCostUsd);
}

for (const dialect of new Set(CASES.map((it) => it.dialect))) {
  const cases = CASES.filter((it) => it.dialect === dialect);
  describe(dialect, () => {
    for (const it of cases.filter(({ answer }) => answer !== null)) {
      test(`an answer is counted and priced by hand: ${it.name}`, () => {
        expectReading(it, WIRES[it.wire].readAnswer(it.answer ?? new Uint8Array(), PROVIDERS[it.kind]));
      });
      test(`so is one that is passed on as it arrives: ${it.name}`, () => {
        const meter = plainMeter((bytes) => WIRES[it.wire].readAnswer(bytes, PROVIDERS[it.kind]), null);
        const passed = chunksOf(it.answer ?? new Uint8Array(), 37).map((chunk) => meter.watch(chunk));
        passed.push(meter.rest());
        expectReading(it, meter.reading(true));
        expect(Buffer.concat(passed.map((part) => part ?? new Uint8Array()))).toEqual(
          Buffer.from(it.answer ?? new Uint8Array()),
        );
      });
    }
    for (const it of cases.filter(({ stream }) => stream !== null)) {
      test(`a stream is counted and priced by hand, however it is cut: ${it.name}`, () => {
        for (const size of [1_000_000, 37, 1]) {
          const meter = meterOf(it);
          const { reading, passed } = play(it, meter, size);
          expectReading(it, reading);
          expect(new TextDecoder().decode(passed)).toBe(it.stream?.join("") ?? "");
        }
      });
      test(`exactly the usage chunk that was asked for is withheld: ${it.name}`, () => {
        const left = it.stream?.filter((_, index) => !it.withheld.includes(index)).join("");
        for (const size of [1_000_000, 37, 1]) {
          const { reading, passed } = play(it, meterOf(it, true), size);
          expect(new TextDecoder().decode(passed)).toBe(left ?? "");
          expectReading(it, reading);
        }
      });
    }
  });
}

test("every kind of provider that a price list or a deviation is known for has a fixture", () => {
  const covered = new Set(CASES.map(({ kind }) => kind));
  const deviating = Object.entries(PROVIDERS).filter(
    ([, facts]) => facts.reasoningOutsideCompletion || !facts.acceptsStreamUsageOption,
  );
  expect(deviating.map(([kind]) => kind).filter((kind) => !covered.has(kind as never))).toEqual([]);
});

test("a complete stream reached its wire's own last event, a cut one did not", () => {
  const ending = CASES.filter(({ stream, wire }) => stream && !(WIRES[wire] as Wire).endsWithBody);
  for (const it of ending.filter(({ dialect }) => dialect !== "perplexity")) {
    const meter = meterOf(it);
    play(it, meter, 64);
    expect({ name: `${it.dialect}: ${it.name}`, terminal: meter.terminalSeen() }).toEqual({
      name: `${it.dialect}: ${it.name}`,
      terminal: !it.cut,
    });
  }
});
