import { expect, test } from "bun:test";
import { streamMeter } from "#gateway/metering/meter.ts";
import { plainMeter } from "#gateway/metering/plain-meter.ts";
import { priceAnswer } from "#gateway/pricing/price-answer.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { locationOf } from "#gateway/providers/places.ts";
import type { ProviderFacts } from "#gateway/providers/provider-facts.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import type { Reading } from "#gateway/reading.ts";
import { type BillLine, VENDORS_BILLS, type VendorsBill } from "./vendors-own-bills.ts";

const prices = priceBook([], PROVIDERS);
const AT = new Date("2026-11-27T12:00:00Z");

/** Reads the answer as it is metered on its way to the client. */
function read({ kind, wire, answer }: VendorsBill): Reading {
  const facts = PROVIDERS[kind];
  const events = Array.isArray(answer) ? answer : null;
  const meter = events
    ? streamMeter(WIRES[wire], facts, { withholdUsage: false })
    : plainMeter((bytes) => WIRES[wire].readAnswer(bytes, facts), null);
  const text = events
    ? events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
    : JSON.stringify(answer);
  meter.watch(new TextEncoder().encode(text));
  meter.rest();
  return meter.reading(true);
}

/** Digits behind the point in the sums below. */
const PLACES = 24;
const scaled = (usd: string): bigint => {
  const [whole = "", decimals = ""] = usd.split(".");
  return BigInt(whole + decimals.padEnd(PLACES, "0"));
};

/** The bill's sum, by hand, to the 24th decimal. */
function sumOf(lines: readonly BillLine[]): string {
  let sum = 0n;
  for (const [count, usd, per] of lines) {
    const product = BigInt(count) * scaled(usd);
    sum += (product + BigInt(per) / 2n) / BigInt(per);
  }
  const digits = sum.toString().padStart(PLACES + 1, "0");
  return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, "");
}

test.each(VENDORS_BILLS.map((it) => [`${it.kind}: ${it.what} (${it.source})`, it] as const))(
  "%s",
  (_, it) => {
    const reading = read(it);
    const { places }: ProviderFacts = PROVIDERS[it.kind];
    const location = locationOf(places, { baseUrl: it.baseUrl ?? "", set: it.location ?? null });
    const provider = { kind: it.kind, name: it.kind, location };
    const priced = priceAnswer(prices, { ...reading, provider, model: it.model, at: AT });
    expect(priced.costUsd).toBe(it.bill && sumOf(it.bill));
    const partial = priced.costUsd !== null && (reading.usageSource === "partial" || priced.atLeast === true);
    expect(partial).toBe(it.partial ?? false);
  },
);
