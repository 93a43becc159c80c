import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Recorder } from "./recorder.ts";
import { spendMetrics } from "./spend-metrics.ts";

/** Seconds; from a cached answer to a long chain of thought. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * The recorder, counting what it settles. Labels are surface, state, channel, provider and team, whose values this
 * program or an administrator defines, and a bounded number of models. No other label comes from a client.
 */
export function withMetrics(recorder: Recorder, registry: Registry): Recorder {
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
  const latency = new Histogram({
    name: "tallygate_call_seconds",
    help: "Duration of calls, from the complete request to the last byte of the answer.",
    labelNames: ["surface"],
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  });
  const latencyOf = memoized((surface) => latency.labels(surface));
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
type Series = {
  surface: string;
  state: string;
  channel: string;
  provider: string;
  calls: number;
  input: number;
  output: number;
  unpriced: number;
};

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
    facts: { name: string; help: string; labelNames: string[] },
    addSeries: (series: Series, add: (by: number, ...labels: string[]) => void) => void,
  ) =>
    new Counter({
      ...facts,
      registers: [registry],
      collect() {
        this.reset();
        for (const series of all)
          addSeries(series, (by, ...labels) => {
            if (by > 0) this.labels(...labels).inc(by);
          });
      },
    });
  counter(
    {
      name: "tallygate_calls_total",
      help: "Recorded calls.",
      labelNames: ["surface", "state", "channel", "provider"],
    },
    ({ calls, surface, state, channel, provider }, add) => add(calls, surface, state, channel, provider),
  );
  counter(
    { name: "tallygate_tokens_total", help: "Tokens of recorded calls.", labelNames: ["surface", "kind"] },
    ({ input, output, surface }, add) => {
      add(input, surface, "input");
      add(output, surface, "output");
    },
  );
  counter(
    {
      name: "tallygate_unpriced_calls_total",
      help: "Recorded calls whose cost is unknown.",
      labelNames: [],
    },
    ({ unpriced }, add) => add(unpriced),
  );
}

function backlogGauges(recorder: Recorder, registry: Registry): void {
  const gauge = (
    facts: { name: string; help: string; aggregator: "sum" | "max" },
    read: (stats: ReturnType<Recorder["stats"]>) => number,
  ) =>
    new Gauge({
      ...facts,
      registers: [registry],
      collect() {
        this.set(read(recorder.stats()));
      },
    });
  gauge(
    { name: "tallygate_spool_records", help: "Records not yet in Postgres.", aggregator: "sum" },
    ({ backlog }) => backlog,
  );
  gauge(
    { name: "tallygate_spool_bytes", help: "Size of the local spool.", aggregator: "sum" },
    ({ bytes }) => bytes,
  );
  gauge(
    { name: "tallygate_spool_open_calls", help: "Calls under way.", aggregator: "sum" },
    ({ open }) => open,
  );
  gauge(
    {
      name: "tallygate_parked_records",
      help: "Records that Postgres refused because of their content.",
      aggregator: "sum",
    },
    ({ parked }) => parked,
  );
  gauge(
    {
      name: "tallygate_spool_oldest_seconds",
      help: "Age of the oldest record not yet in Postgres.",
      aggregator: "max",
    },
    ({ oldestMs }) => (oldestMs ?? 0) / 1000,
  );
}

function damageCounters(recorder: Recorder, registry: Registry): void {
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  counter(
    "tallygate_records_lost_total",
    "Records lost in damaged spool files; an unknown number counts as 1.",
    () => recorder.stats().damage.lost,
  );
  counter(
    "tallygate_records_recovered_total",
    "Records recovered from damaged spool files.",
    () => recorder.stats().damage.recovered,
  );
  counter("tallygate_spool_damaged_files_total", "Damaged spool files.", () => recorder.stats().damage.files);
}
