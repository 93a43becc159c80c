import { Histogram, type Registry } from "prom-client";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { type MetricSample, readCounter, readGauge } from "#shared/metrics.ts";
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
  const all: Series[] = [];
  const seriesOf = memoized((surface) =>
    memoized((state) =>
      memoized((channel) =>
        memoized((provider) => {
          const made = { surface, state, channel, provider, calls: 0, input: 0, output: 0, unpriced: 0 };
          all.push(made);
          return made;
        }),
      ),
    ),
  );
  counters(all, registry);
  const seconds = (name: string, help: string) => {
    const facts = { name, help, labelNames: ["surface"], buckets: LATENCY_BUCKETS, registers: [registry] };
    const histogram = new Histogram(facts);
    return memoized((surface) => histogram.labels(surface));
  };
  const latencyOf = seconds(
    "tallygate_call_seconds",
    "Duration of calls, from the complete request to the last byte of the answer.",
  );
  const firstByteOf = seconds(
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
    const series = seriesOf(row.surface)(row.state)(row.channel)(row.provider ?? "none");
    series.calls += 1;
    series.input += row.inputTokens ?? 0;
    series.output += row.outputTokens ?? 0;
    if (row.unpriced) series.unpriced += 1;
    countSpend(row);
    if (row.latencyMs != null) latencyOf(row.surface).observe(row.latencyMs / 1000);
    if (row.ttftMs != null) firstByteOf(row.surface).observe(row.ttftMs / 1000);
  };
  return {
    ...recorder,
    settle(row) {
      count(row);
      return recorder.settle(row);
    },
  };
}

/** Calls with the same labels, as plain numbers: adding to them is cheap, and a scrape turns them into metrics. */
type Series = Record<"surface" | "state" | "channel" | "provider", string> &
  Record<"calls" | "input" | "output" | "unpriced", number>;

/** Remembers what `make` returns for a name. Joining several names into one key costs more than a look-up for each. */
function memoized<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const value = make(name);
    made.set(name, value);
    return value;
  };
}

function counters(all: readonly Series[], registry: Registry): void {
  const counter = (
    [name, help]: readonly [name: string, help: string],
    labelNames: string[],
    samplesOf: (series: Series) => readonly MetricSample[],
  ) => readCounter(registry, { name, help, labelNames }, () => all.flatMap(samplesOf));
  counter(
    ["tallygate_calls_total", "Recorded calls."],
    ["surface", "state", "channel", "provider"],
    ({ calls, surface, state, channel, provider }) => [[calls, surface, state, channel, provider]],
  );
  const kinds = ({ input, output, surface }: Series): MetricSample[] => [
    [input, surface, "input"],
    [output, surface, "output"],
  ];
  counter(["tallygate_tokens_total", "Tokens of recorded calls."], ["surface", "kind"], kinds);
  const unpriced = "Recorded calls whose cost is unknown.";
  counter(["tallygate_unpriced_calls_total", unpriced], [], ({ unpriced }) => [[unpriced]]);
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
