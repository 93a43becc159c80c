import type { AgentPointRow, PointKind } from "#drizzle/schema/agent.ts";
import { type Attributes, readAttributes, type Told, whoOf } from "./attributes.ts";
import { faultOf, readNumber, readTime } from "./figures.ts";
import { type MetricFacts, metricFacts } from "./metrics.ts";
import { attributesIn, type Series } from "./read-export.ts";

/** A point as the export tells it; whose it is and what it costs is not in the export. */
export type Point = Omit<AgentPointRow, "keyId" | "owner" | "costUsd" | "unpriced" | "price" | "receivedAt">;

/** What becomes of the points of one metric. */
export type Verdicts = {
  accepted(point: Point): void;
  /** `points` of the metric are refused. The reason never quotes a value. */
  refused(metric: string, reason: string, points: number): void;
  /** The name of an attribute, or of one whose value, is not stored. */
  dropped(attribute: string): void;
};

export type Judging = { keyId: string; nowMs: number };

const FUTURE_MAX_MS = 24 * 3_600_000;
const AGE_MAX_MS = 30 * 24 * 3_600_000;

/** Judges a metric's points one by one, so that who asks may pause between them. */
export function* judge(series: Series, it: Judging, verdicts: Verdicts): Generator<void> {
  const { name, points } = series;
  const facts = metricFacts(name);
  const reason = facts ? formFault(series) : "is not a metric that is stored";
  if (!facts || reason) {
    verdicts.refused(name, reason ?? "", points.length);
    return;
  }
  const reading = { ...facts, drop: verdicts.dropped };
  const above = readAttributes(readAttributes({}, series.resource, reading), series.scope, reading);
  const around = [it.keyId, canonical(series.resource), canonical(series.scope), name];
  for (const data of points) {
    const attributes = attributesIn(data);
    const told = readAttributes(above, attributes, reading);
    const point = pointOf(series, facts, { data, told, nowMs: it.nowMs });
    if (typeof point === "string") verdicts.refused(name, point, 1);
    else {
      const identity = [...around, canonical(attributes), data["startTimeUnixNano"], data["timeUnixNano"]];
      verdicts.accepted({ ...point, ...whoOf(told, facts, verdicts.dropped), hash: sha256(identity) });
    }
    yield;
  }
}

/** Why a metric's form keeps all its points out. */
function formFault({ data, temporality }: Series): string | null {
  if (data === null) return "has neither a sum nor a histogram";
  if (data === "gauge" || data === "summary") return `is a ${data}; send a delta sum or histogram`;
  if (temporality === 1 || temporality === "AGGREGATION_TEMPORALITY_DELTA") return null;
  const cumulative = temporality === 2 || temporality === "AGGREGATION_TEMPORALITY_CUMULATIVE";
  return `has ${cumulative ? "cumulative" : "unspecified"} temporality; only delta is accepted`;
}

type Data = { data: Record<string, unknown>; told: Told; nowMs: number };

/** The point, or why it is refused. */
function pointOf(series: Series, facts: MetricFacts, { data, told, nowMs }: Data) {
  const kind = kindOf(facts.kind, told.kind);
  if (!kind) return "has a point without a known token type";
  const isSum = series.data === "sum";
  const value = readNumber(isSum ? (data["asInt"] ?? data["asDouble"]) : data["sum"]);
  const count = isSum ? null : (readNumber(data["count"]) ?? 0);
  const endedMs = readTime(data["timeUnixNano"]);
  const fault = figureFault(facts, value, count) ?? timeFault(endedMs, nowMs);
  if (fault || value === null || endedMs === null) return `has a point that ${fault}`;
  const startedMs = readTime(data["startTimeUnixNano"]);
  const { client: _, endUser: __, user: ___, session: ____, kind: _____, ...labels } = told;
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
    told: counts === "told" ? String(value) : null,
  };
}

const figureFault = ({ counts }: MetricFacts, value: number | null, count: number | null): string | null =>
  faultOf(value, counts === "tokens") ?? (count === null ? null : faultOf(count, true));

function timeFault(endedMs: number | null, nowMs: number): string | null {
  if (endedMs === null) return "has no time";
  if (endedMs > nowMs + FUTURE_MAX_MS) return "is more than 24 hours in the future";
  return endedMs < nowMs - AGE_MAX_MS ? "is over 30 days old" : null;
}

function kindOf(kind: MetricFacts["kind"], told: string | null | undefined): PointKind | undefined {
  if (typeof kind === "string") return kind;
  return told && Object.hasOwn(kind.of, told) ? kind.of[told] : undefined;
}

/** Attributes in an order that does not depend on the sender's. */
const canonical = (attributes: Attributes): string =>
  JSON.stringify(attributes.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

const sha256 = (identity: readonly unknown[]): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(identity)).digest("hex");
