import type { AgentPointRow, PointKind } from "#drizzle/schema/agent.ts";
import { type Attributes, type AttributeValues, identityIn, readAttributes } from "./attributes.ts";
import { type MetricFacts, metricFacts } from "./metrics.ts";
import { attributesIn, type Series } from "./read-export.ts";

/** A point as exported, before its key and cost are added. */
export type Point = Omit<AgentPointRow, "keyId" | "owner" | "costUsd" | "unpriced" | "price" | "receivedAt">;

export type PointResults = {
  accepted(point: Point): void;
  /** `points` of the metric are rejected. The reason never quotes a value. */
  refused(metric: string, reason: string, points: number): void;
  /** An attribute of this name, or its value, is not stored. */
  dropped(attribute: string): void;
};

export type ValidationContext = { keyId: string; nowMs: number };

const FUTURE_MAX_MS = 24 * 3_600_000;
const AGE_MAX_MS = 30 * 24 * 3_600_000;

/** Validates a metric's points one by one, so that the caller can pause between them. */
export function* validatePoints(
  series: Series,
  { keyId, nowMs }: ValidationContext,
  results: PointResults,
): Generator<void> {
  const { name, points } = series;
  const facts = metricFacts(name);
  const reason = facts ? formFault(series) : "is not a metric that is stored";
  if (!facts || reason) {
    results.refused(name, reason ?? "", points.length);
    return;
  }
  const rules = { ...facts, drop: results.dropped };
  const inherited = readAttributes(readAttributes({}, series.resource, rules), series.scope, rules);
  const seriesIdentity = [keyId, canonical(series.resource), canonical(series.scope), name];
  for (const data of points) {
    const attributes = attributesIn(data);
    const values = readAttributes(inherited, attributes, rules);
    const point = pointOf(series, facts, { data, values, nowMs });
    if (typeof point === "string") results.refused(name, point, 1);
    else {
      const { startTimeUnixNano: start, timeUnixNano: end } = data;
      const hash = sha256([...seriesIdentity, canonical(attributes), start, end]);
      results.accepted({ ...point, ...identityIn(values, rules), hash });
    }
    yield;
  }
}

/** Why a metric's form, and so all its points, is rejected; null if it is supported. */
function formFault({ data, temporality }: Series): string | null {
  if (data === null) return "has neither a sum nor a histogram";
  if (data === "gauge" || data === "summary") return `is a ${data}; send a delta sum or histogram`;
  if (temporality === 1 || temporality === "AGGREGATION_TEMPORALITY_DELTA") return null;
  const cumulative = temporality === 2 || temporality === "AGGREGATION_TEMPORALITY_CUMULATIVE";
  return `has ${cumulative ? "cumulative" : "unspecified"} temporality; only delta is accepted`;
}

type PointInput = { data: Record<string, unknown>; values: AttributeValues; nowMs: number };

/** The point, or why it is rejected. */
function pointOf(series: Series, facts: MetricFacts, { data, values, nowMs }: PointInput) {
  const kind = kindOf(facts.kind, values.kind);
  if (!kind && facts.elsewhere?.of.includes(values.kind ?? "")) {
    return `counts ${values.kind} tokens that ${facts.elsewhere.metric} has already`;
  }
  if (!kind) return "has a point without a known token type";
  const isSum = series.data === "sum";
  const value = readNumber(isSum ? (data["asInt"] ?? data["asDouble"]) : data["sum"]);
  const count = isSum ? null : (readNumber(data["count"]) ?? 0);
  const endedMs = readTime(data["timeUnixNano"]);
  const fault =
    figureFault(value, facts.counts === "tokens") ??
    (count === null ? null : figureFault(count, true)) ??
    timeFault(endedMs, nowMs);
  if (fault || value === null || endedMs === null) return `has a point that ${fault}`;
  const startedMs = readTime(data["startTimeUnixNano"]);
  const { client: _, endUser: __, user: ___, session: ____, kind: _____, ...labels } = values;
  return {
    ...labels,
    metric: series.name,
    kind,
    ...figuresOf(facts, series.unit, { value, count }),
    startedAt: startedMs === null ? null : new Date(startedMs).toISOString(),
    endedAt: new Date(endedMs).toISOString(),
  };
}

function figuresOf(
  { counts }: MetricFacts,
  unit: string,
  { value, count }: { value: number; count: number | null },
) {
  const seconds = unit === "ms" ? value / 1000 : value;
  return {
    tokens: counts === "tokens" ? value : null,
    operations: counts === "operations" ? count : null,
    durationSeconds: counts === "operations" ? String(seconds) : null,
    reported: counts === "reported" ? String(value) : null,
  };
}

function timeFault(endedMs: number | null, nowMs: number): string | null {
  if (endedMs === null) return "has no time";
  if (endedMs > nowMs + FUTURE_MAX_MS) return "is more than 24 hours in the future";
  return endedMs < nowMs - AGE_MAX_MS ? "is over 30 days old" : null;
}

function kindOf(kind: MetricFacts["kind"], value: string | null | undefined): PointKind | undefined {
  if (typeof kind === "string") return kind;
  return value && Object.hasOwn(kind.of, value) ? kind.of[value] : undefined;
}

/** Serialized in an order that does not depend on the sender. */
const canonical = (attributes: Attributes): string =>
  JSON.stringify(attributes.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

const sha256 = (identity: readonly unknown[]): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(identity)).digest("hex");

/** Larger figures are not measurements. */
const FIGURE_MAX = 1e12;

/** A number in OTLP/JSON, possibly sent as text; NaN for anything else, null if absent. */
function readNumber(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return value;
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : Number.NaN;
}

const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/;

/** Why a figure cannot be stored; null if it can. */
function figureFault(value: number | null, whole: boolean): string | null {
  if (value === null) return "has no sum";
  if (Number.isNaN(value)) return "is not a number";
  if (value < 0) return "is negative";
  if (value > (whole ? Number.MAX_SAFE_INTEGER : FIGURE_MAX)) return "is too large";
  return whole && !Number.isInteger(value) ? "is not a whole number" : null;
}

/** Milliseconds since 1970 from nanoseconds as text or number; null without a valid time. */
function readTime(nanos: unknown): number | null {
  const ms =
    typeof nanos === "string" && /^\d{1,20}$/.test(nanos)
      ? Number(nanos.slice(0, -6))
      : typeof nanos === "number"
        ? Math.floor(nanos / 1e6)
        : Number.NaN;
  return ms > 0 && ms < TIME_MAX_MS ? ms : null;
}

/** Maximum of 64-bit nanoseconds. */
const TIME_MAX_MS = 18_446_744_073_710;
