/** OTLP/JSON by hand, as short as a test needs it. */
type Value = string | number | boolean | object;
type Labels = Record<string, Value>;

const anyValue = (value: Value) => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return typeof value === "number" ? { intValue: value } : value;
};

const attributes = (labels: Labels) =>
  Object.entries(labels).map(([key, value]) => ({ key, value: anyValue(value) }));

const nanos = (ms: number): string => `${ms}000000`;

export type PointFacts = { labels?: Labels; at?: number; from?: number | null } & Record<string, unknown>;

/** A data point a minute long that ends at `at` (milliseconds; now if absent); other members are as given. */
function point({ labels = {}, at = Date.now(), from = at - 60_000, ...rest }: PointFacts) {
  return {
    attributes: attributes(labels),
    ...(from === null ? {} : { startTimeUnixNano: nanos(from) }),
    timeUnixNano: nanos(at),
    ...rest,
  };
}

export const sum = (name: string, points: PointFacts[], more: object = {}) => ({
  name,
  sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: points.map(point), ...more },
});

export const histogram = (name: string, points: PointFacts[], more: object = {}) => ({
  name,
  histogram: { aggregationTemporality: 1, dataPoints: points.map(point), ...more },
});

export const metricsExport = (resource: Labels, metrics: object[], scope: Labels = {}) => ({
  resourceMetrics: [
    {
      resource: { attributes: attributes(resource) },
      scopeMetrics: [{ scope: { name: "s", version: "1", attributes: attributes(scope) }, metrics }],
    },
  ],
});
