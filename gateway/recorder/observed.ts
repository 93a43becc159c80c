import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Recorder } from "./recorder.ts";

/** Seconds; from a cached answer to a long chain of thought. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * The recorder, counting what it settles. Labels are surface, state, channel and provider: lists that an administrator
 * or this program closes. No label comes from a client.
 */
export function observed(recorder: Recorder, registry: Registry): Recorder {
  const names = ["surface", "state", "channel", "provider"] as const;
  const calls = new Counter({
    name: "tallygate_calls_total",
    help: "Recorded calls.",
    labelNames: names,
    registers: [registry],
  });
  const tokens = new Counter({
    name: "tallygate_tokens_total",
    help: "Tokens of recorded calls.",
    labelNames: ["surface", "kind"],
    registers: [registry],
  });
  const unpriced = new Counter({
    name: "tallygate_unpriced_calls_total",
    help: "Recorded calls whose cost is unknown.",
    registers: [registry],
  });
  const latency = new Histogram({
    name: "tallygate_call_seconds",
    help: "Whole calls, from the complete request to the last byte of the answer.",
    labelNames: ["surface"],
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  });
  backlogGauges(recorder, registry);

  const callsOf = remembered((...labels) => calls.labels(...labels));
  const tokensOf = remembered((...labels) => tokens.labels(...labels));
  const latencyOf = remembered((...labels) => latency.labels(...labels));

  const count = (row: RequestRow) => {
    const { surface, state, channel } = row;
    callsOf(surface, state, channel, row.provider ?? "none").inc();
    if (row.inputTokens) tokensOf(surface, "input").inc(row.inputTokens);
    if (row.outputTokens) tokensOf(surface, "output").inc(row.outputTokens);
    if (row.unpriced) unpriced.inc();
    if (row.latencyMs != null) latencyOf(surface).observe(row.latencyMs / 1000);
  };
  return {
    ...recorder,
    settle(row) {
      count(row);
      return recorder.settle(row);
    },
  };
}

/** The child of a metric for its labels, found without hashing them anew at every call. */
function remembered<Child>(make: (...labels: string[]) => Child): (...labels: string[]) => Child {
  const children = new Map<string, Child>();
  return (...labels) => {
    const name = labels.join(" ");
    const known = children.get(name) ?? make(...labels);
    children.set(name, known);
    return known;
  };
}

function backlogGauges(recorder: Recorder, registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge("tallygate_spool_records", "Records not yet in Postgres.", () => recorder.stats().backlog);
  gauge("tallygate_spool_bytes", "Size of the local spool.", () => recorder.stats().bytes);
  gauge("tallygate_spool_open_calls", "Calls under way.", () => recorder.stats().open);
  gauge(
    "tallygate_parked_records",
    "Records that Postgres refused for their data.",
    () => recorder.stats().parked,
  );
  gauge(
    "tallygate_spool_oldest_seconds",
    "Age of the oldest record not yet in Postgres.",
    () => (recorder.stats().oldestMs ?? 0) / 1000,
  );
}
