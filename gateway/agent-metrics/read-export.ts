import { GatewayError } from "../errors.ts";
import { jsonInBytes } from "../http/json-limits.ts";
import type { Attributes } from "./attributes.ts";

/** A metric with its points and the attributes around them. */
export type Series = {
  name: string;
  unit: string;
  /** The member that contains the points, such as `sum` or `gauge`; null if there is none. */
  data: string | null;
  /** As sent: OTLP/JSON uses the enum's number. */
  temporality: unknown;
  points: readonly Record<string, unknown>[];
  resource: Attributes;
  scope: Attributes;
};

const DATA = ["sum", "histogram", "exponentialHistogram", "gauge", "summary"] as const;

/**
 * The metrics of an OTLP/JSON export; check `requireJsonLimits` first. Unknown members are ignored.
 * @throws GatewayError invalid_request if the body is not an export; too_large over `pointsMax`.
 */
export function readExport(bytes: Uint8Array, pointsMax: number): Series[] {
  const body = object(jsonInBytes(bytes), "The body");
  if (!Array.isArray(body["resourceMetrics"])) throw fault("resourceMetrics", "an array");
  const series = [...seriesOf(body)];
  const count = series.reduce((sum, { points }) => sum + points.length, 0);
  if (count <= pointsMax) return series;
  throw new GatewayError("too_large", `An export has at most ${pointsMax} points. Export more often.`);
}

function* seriesOf(body: Record<string, unknown>): Generator<Series> {
  for (const entry of objects(body, "resourceMetrics")) {
    const resource = attributesOf(entry, "resource");
    for (const scoped of objects(entry, "scopeMetrics")) {
      const scope = attributesOf(scoped, "scope");
      for (const metric of objects(scoped, "metrics")) yield { ...seriesIn(metric), resource, scope };
    }
  }
}

function seriesIn(metric: Record<string, unknown>): Omit<Series, "resource" | "scope"> {
  const { name, unit } = metric;
  if (typeof name !== "string") throw fault("name", "a string");
  const data = DATA.find((form) => metric[form] != null) ?? null;
  const content = data ? object(metric[data], data) : {};
  return {
    name,
    unit: typeof unit === "string" ? unit : "",
    data,
    temporality: content["aggregationTemporality"],
    points: objects(content, "dataPoints"),
  };
}

function attributesOf(within: Record<string, unknown>, name: string): Attributes {
  const holder = within[name];
  return holder == null ? [] : attributesIn(object(holder, name));
}

/** The attributes of a resource, a scope or a point. @throws GatewayError invalid_request */
export function attributesIn(holder: Record<string, unknown>): Attributes {
  return objects(holder, "attributes").map(({ key, value }) => {
    if (typeof key !== "string") throw fault("key", "a string");
    return [key, value] as const;
  });
}

/** The objects of a list; an absent or null list is empty, as always in protobuf's JSON. */
function objects(within: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const list = within[name];
  if (list == null) return [];
  if (!Array.isArray(list)) throw fault(name, "an array");
  return list.map((item) => object(item, name));
}

function object(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fault(name, "an object");
  // Any object that is not an array can be read as a record.
  return value as Record<string, unknown>;
}

const fault = (name: string, expected: string) =>
  new GatewayError(
    "invalid_request",
    `The body is not an OTLP metrics export: ${name} must contain ${expected}.`,
  );
