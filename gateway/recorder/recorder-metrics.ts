import { Counter, Histogram, type Registry } from "prom-client";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { readCounter, readGauge } from "#shared/metrics.ts";
import type { Recorder } from "./recorder.ts";
import type { DamageTotals } from "./recovery/recoveries.ts";
import { spendMetrics } from "./spend-metrics.ts";

/** Seconds; from a cached answer to a long chain of thought. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * The recorder, counting what it settles. Labels are surface, state, channel, provider and team, whose values this
 * program or an administrator defines, and a bounded number of models. No other label comes from a client.
 */
export function withMetrics(
  recorder: Recorder,
  registry: Registry,
  { bytesMax }: { bytesMax: number },
): Recorder {
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const byCall = ["surface", "state", "channel", "provider"];
  const calls = counter("tallygate_calls_total", "Recorded calls.", byCall);
  const tokens = counter("tallygate_tokens_total", "Tokens of recorded calls.", ["surface", "kind"]);
  const unpriced = counter("tallygate_unpriced_calls_total", "Recorded calls whose cost is unknown.");
  const seconds = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ["surface"], buckets: LATENCY_BUCKETS, registers: [registry] });
  const latency = seconds(
    "tallygate_call_seconds",
    "Duration of calls, from the complete request to the last byte of the answer.",
  );
  const firstByte = seconds(
    "tallygate_first_byte_seconds",
    "Time from the complete request to the first byte of the answer's content.",
  );
  readGauge(
    registry,
    { name: "tallygate_spool_bytes_max", help: "Size at which the spool takes no new calls." },
    () => bytesMax,
  );
  backlogGauges(recorder, registry);
  damageCounters(recorder, registry);
  const countSpend = spendMetrics(registry);

  const count = (row: RequestRow) => {
    const { surface, state, channel, provider } = row;
    calls.inc({ surface, state, channel, provider: provider ?? "none" });
    tokens.inc({ surface, kind: "input" }, row.inputTokens ?? 0);
    tokens.inc({ surface, kind: "output" }, row.outputTokens ?? 0);
    if (row.unpriced) unpriced.inc();
    countSpend(row);
    if (row.latencyMs != null) latency.observe({ surface }, row.latencyMs / 1000);
    if (row.ttftMs != null) firstByte.observe({ surface }, row.ttftMs / 1000);
  };
  return {
    ...recorder,
    settle(row) {
      count(row);
      return recorder.settle(row);
    },
  };
}

type Stats = ReturnType<Recorder["stats"]>;

const GAUGES: readonly [
  name: string,
  help: string,
  aggregator: "sum" | "max",
  read: (of: Stats) => number,
][] = [
  ["tallygate_spool_records", "Records not yet in Postgres.", "sum", ({ backlog }) => backlog],
  ["tallygate_spool_bytes", "Size of the local spool.", "sum", ({ bytes }) => bytes],
  ["tallygate_spool_open_calls", "Calls under way.", "sum", ({ open }) => open],
  [
    "tallygate_parked_records",
    "Records that Postgres refused because of their content.",
    "sum",
    ({ parked }) => parked,
  ],
  [
    "tallygate_spool_oldest_seconds",
    "Age of the oldest record not yet in Postgres.",
    "max",
    ({ oldestMs }) => (oldestMs ?? 0) / 1000,
  ],
];

function backlogGauges(recorder: Recorder, registry: Registry): void {
  for (const [name, help, aggregator, read] of GAUGES)
    readGauge(registry, { name, help, aggregator }, () => read(recorder.stats()));
}

function damageCounters(recorder: Recorder, registry: Registry): void {
  const counter = (name: string, help: string, of: keyof DamageTotals) =>
    readCounter(registry, { name, help }, () => [[recorder.stats().damage[of]]]);
  counter(
    "tallygate_records_lost_total",
    "Records lost in damaged spool files; an unknown number counts as 1.",
    "lost",
  );
  counter("tallygate_records_recovered_total", "Records recovered from damaged spool files.", "recovered");
  counter("tallygate_spool_damaged_files_total", "Damaged spool files.", "files");
}
