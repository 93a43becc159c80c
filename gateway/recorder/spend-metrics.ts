import type { Registry } from "prom-client";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { type MetricSample, readCounter } from "#shared/metrics.ts";
import { type Pico, parsePico } from "../limits/money.ts";

/** Combinations of provider, model and team that get series of their own in one process. */
const SERIES_MAX = 500;
const OTHER = "other";
const NONE = "none";
const LABELS = ["provider", "model", "team"];

type Series = { labels: string[]; usd: Pico; input: number; output: number };

/**
 * Adds up money and tokens by provider, model and team, for alerts and dashboards. The sums are exact here and become
 * floating-point numbers at a scrape; reports are exact. Clients choose models, so only the first 500 combinations get
 * series of their own; later ones count under their provider, as model and team `other`. Calls without a cost and
 * without tokens take no series.
 */
export function spendMetrics(registry: Registry): (row: RequestRow) => void {
  const series = new Map<string, Series>();
  counters(registry, series);
  const seriesOf = (labels: string[]): Series => {
    const name = JSON.stringify(labels);
    const known = series.get(name);
    if (known) return known;
    const [provider = NONE, model] = labels;
    if (series.size >= SERIES_MAX && model !== OTHER) return seriesOf([provider, OTHER, OTHER]);
    const made = { labels, usd: 0n, input: 0, output: 0 };
    series.set(name, made);
    return made;
  };
  return ({ provider, model, teams, costUsd, inputTokens, outputTokens }) => {
    if (costUsd == null && !inputTokens && !outputTokens) return;
    const it = seriesOf([provider ?? NONE, model ?? NONE, teams?.[0] ?? NONE]);
    if (costUsd != null) it.usd += parsePico(costUsd);
    it.input += inputTokens ?? 0;
    it.output += outputTokens ?? 0;
  };
}

function counters(registry: Registry, series: ReadonlyMap<string, Series>): void {
  readCounter(
    registry,
    {
      name: "tallygate_cost_usd_total",
      help: "Cost of recorded calls in USD, as far as it was known when they were recorded. Reports are exact.",
      labelNames: LABELS,
    },
    () => series.values().map(({ labels, usd }): MetricSample => [toUsd(usd), ...labels]),
  );
  readCounter(
    registry,
    {
      name: "tallygate_model_tokens_total",
      help: "Tokens of recorded calls by provider, model and team.",
      labelNames: [...LABELS, "kind"],
    },
    () =>
      series.values().flatMap(({ labels, input, output }): MetricSample[] => [
        [input, ...labels, "input"],
        [output, ...labels, "output"],
      ]),
  );
}

/** A metric is a floating-point number; nothing is added up or decided with it. */
const toUsd = (usd: Pico): number => Number(usd) / 1e12;
