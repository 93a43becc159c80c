import { parser } from "@prometheus-io/lezer-promql";

/** What Prometheus adds to each series, and `le` of histograms. */
const ADDED = ["instance", "job", "le"];

export type Named = { faults: string[]; metrics: string[]; labels: string[] };

/** The metrics and labels that an expression names, and where it cannot be parsed. Grafana's variables are filled in. */
export function namedIn(expression: string): Named {
  const text = expression.replaceAll("$__rate_interval", "5m").replaceAll("$__range", "6h");
  const named: Named = { faults: [], metrics: [], labels: [] };
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const words = text.slice(from, to);
      if (type.isError) named.faults.push(`${text.slice(0, from)} ⟨here⟩ ${text.slice(from)}`);
      if (type.name === "Identifier" && node.parent?.name === "VectorSelector") named.metrics.push(words);
      if (type.name === "LabelName" && !ADDED.includes(words)) named.labels.push(words);
    },
  });
  return named;
}

/** Prometheus' text format: the labels of each metric, a histogram's parts under the names of their series. */
export function labelsByMetric(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = ""] of text.matchAll(/^# TYPE (\S+)/gm)) found.set(name, new Set());
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Set();
    for (const [, label = ""] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}
