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
  const calls = tally(registry, {
    name: "tallygate_calls_total",
    help: "Recorded calls.",
    labelNames: ["surface", "state", "channel", "provider"],
  });
  const tokens = tally(registry, {
    name: "tallygate_tokens_total",
    help: "Tokens of recorded calls.",
    labelNames: ["surface", "kind"],
  });
  const unpriced = tally(registry, {
    name: "tallygate_unpriced_calls_total",
    help: "Recorded calls whose cost is unknown.",
    labelNames: [],
  });
  const latency = new Histogram({
    name: "tallygate_call_seconds",
    help: "Whole calls, from the complete request to the last byte of the answer.",
    labelNames: ["surface"],
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  });
  const latencyOf = kept((surface: string) => latency.labels(surface));
  backlogGauges(recorder, registry);

  const count = (row: RequestRow) => {
    const { surface, state, channel } = row;
    calls(1, `${surface}\t${state}\t${channel}\t${row.provider ?? "none"}`);
    if (row.inputTokens) tokens(row.inputTokens, `${surface}\tinput`);
    if (row.outputTokens) tokens(row.outputTokens, `${surface}\toutput`);
    if (row.unpriced) unpriced(1, "");
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

/** Remembers what `make` gives for a name: prom-client looks for a label's series by a text that it builds anew. */
function kept<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    const it = made.get(name) ?? make(name);
    made.set(name, it);
    return it;
  };
}

/** `labels`: the values in the order of the metric's names, with tabs between them. */
type Tally = (by: number, labels: string) => void;

/** A counter that adds up plain numbers on the way of a call, and turns them into metrics only when it is asked. */
function tally(registry: Registry, facts: { name: string; help: string; labelNames: string[] }): Tally {
  const sums = new Map<string, { sum: number }>();
  new Counter({
    ...facts,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, { sum }] of sums)
        this.labels(...labels.split("\t").slice(0, facts.labelNames.length)).inc(sum);
    },
  });
  return (by, labels) => {
    const known = sums.get(labels);
    if (known) known.sum += by;
    else sums.set(labels, { sum: by });
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
