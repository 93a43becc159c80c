import { type Static, Type } from "@sinclair/typebox";
import { readInstant } from "#shared/admin/fields.ts";
import {
  COMPARES,
  type Compare,
  type DimensionName,
  type Filters,
  PAYLOAD_DIMENSIONS,
  RANGES,
  Range,
  type Spec,
} from "#shared/report.ts";
import { boundedText, closed, oneOf } from "#shared/schema.ts";
import { isWithinLength } from "#shared/text-length.ts";
import { isTimeZone, TIME_ZONE_FAULT } from "#shared/time-zone.ts";
import { CATALOGUE, type CatalogueEntry } from "./catalogue.ts";
import { dateFault } from "./dates.ts";
import { checkSpec, wrong } from "./spec.ts";

/** Range and comparison of a call, which the subscription's and the agents' results take too. */
export type Frame = { range: Range; compare: Compare };

export const DEFAULT_FRAME: Frame = { range: "30d", compare: "none" };

/** A report to run. Its spec is not checked yet: an item that fails is answered without a result. */
export type Item = { id: string; title: string; description: string; spec: unknown };

/** Body of `POST /v1/reports`. `range` and `compare` are those of `subscription` and `agentEstimate`. */
export const ReportsBody = closed({
  specs: Type.Array(
    closed({
      id: boundedText({ minLength: 1, maxLength: 200 }),
      title: boundedText({ maxLength: 200 }),
      description: boundedText({ maxLength: 2000 }),
      spec: Type.Unknown(),
    }),
    { maxItems: 50 },
  ),
  range: Type.Optional(Range),
  compare: Type.Optional(oneOf(COMPARES)),
});
export type ReportsBody = Static<typeof ReportsBody>;

/** Body of `POST /v1/reports/query`: one report, or several that read one snapshot. Specs are checked apart. */
export const QueryBody = closed({
  spec: Type.Optional(Type.Unknown()),
  specs: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: 50 })),
  time_zone: Type.Optional(Type.String()),
  rate_mix_volume: Type.Optional(Type.Boolean()),
  all_rows: Type.Optional(Type.Boolean()),
  as_of: Type.Optional(Type.String()),
});
type QueryBody = Static<typeof QueryBody>;

/** The checked specs of a query, and whether it is one report. @throws GatewayError invalid_request with the reason. */
export function querySpecs({ spec, specs, time_zone: zone, rate_mix_volume: moves }: QueryBody): {
  specs: Spec[];
  isOne: boolean;
} {
  if (zone !== undefined && !isTimeZone(zone)) wrong("body.time_zone", TIME_ZONE_FAULT);
  if (spec !== undefined && specs !== undefined) wrong("body", "has either spec or specs");
  const isOne = specs === undefined;
  const checked = specs?.map((one, i) => checkSpec(one, `specs[${i}]`)) ?? [checkSpec(spec)];
  if (moves && checked.some(({ source, compare }) => source !== "requests" || compare === "none"))
    wrong("body.rate_mix_volume", "needs the source requests and compare previous_period");
  return { specs: checked, isOne };
}

/** How a report leaves: the payload, or one report as a file of CSV. */
export const FORMATS = ["json", "csv"] as const;
export type Format = (typeof FORMATS)[number];

/** What a query string asks for. What is null is each report's own, or the default. */
export type ReportsQuery = {
  range: Range | null;
  compare: Compare | null;
  filters: Filters;
  /** Distinct; empty is every built-in report. */
  ids: readonly string[];
  format: Format;
};

/** A report under an id, built in or saved. */
export type NamedReport = Omit<CatalogueEntry, "spec"> & {
  spec: CatalogueEntry["spec"] & Partial<Pick<Spec, "filters" | "range" | "compare">>;
};

/** The instant of a query's `as_of`; absent: the latest costs. @throws GatewayError unless it is one that has been. */
export function readAsOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const atMs = readInstant(text) ?? wrong("body.as_of", "must be an RFC 3339 date-time or a date");
  return atMs <= nowMs ? atMs : wrong("body.as_of", "is in the future");
}

const IDS_MAX = 50;
const MEMBERS = ["range", "from", "to", "compare", "id", "format"];
const FILTER = /^filter\[([a-z_]*)\]$/;

/**
 * Reads the query string of `GET /v1/reports`: `range` or `from` and `to`, `compare`, `id=a,b`, `filter[dimension]=a,b`,
 * `format`. Lists are separated by commas, or stand in repeated parameters.
 * @throws GatewayError invalid_request, naming the parameter and the reason.
 */
export function readQuery(query: URLSearchParams): ReportsQuery {
  for (const name of query.keys()) {
    if (!MEMBERS.includes(name) && !FILTER.test(name)) {
      wrong("query", `known parameters are ${MEMBERS.join(", ")} and filter[dimension]`);
    }
    if (name !== "id" && MEMBERS.includes(name) && query.getAll(name).length > 1)
      wrong(name, "is given twice");
  }
  const ids = [...new Set(query.getAll("id").flatMap((value) => value.split(",")))];
  if (ids.length > IDS_MAX) wrong("id", `is given for more than ${IDS_MAX} reports`);
  return {
    range: readRange(query),
    compare: readCompare(query.get("compare")),
    filters: readFilters(query),
    ids,
    format: readFormat(query),
  };
}

/** The `format` of reports in a body, `json` or `csv`. @throws GatewayError invalid_request for anything else. */
export function readFormatAlone(query: URLSearchParams): Format {
  for (const name of query.keys()) {
    if (name !== "format") wrong("query", "only format is known; everything else belongs in the body");
    if (query.getAll(name).length > 1) wrong(name, "is given twice");
  }
  return readFormat(query);
}

function readFormat(query: URLSearchParams): Format {
  const name = query.get("format") ?? "json";
  return FORMATS.find((format) => format === name) ?? wrong("format", `must be ${FORMATS.join(" or ")}`);
}

export const frameOf = ({ range, compare }: Pick<ReportsQuery, "range" | "compare">): Frame => ({
  range: range ?? DEFAULT_FRAME.range,
  compare: compare ?? DEFAULT_FRAME.compare,
});

export const isBuiltIn = (id: string): boolean => CATALOGUE.some((entry) => entry.id === id);

/**
 * The reports that a query asks for, the built-in ones first; `saved` are those of its ids that are saved. Range,
 * comparison and filters of the query take the place of a report's own.
 * @throws GatewayError invalid_request where an id is of no report.
 */
export function itemsOf(query: ReportsQuery, saved: readonly NamedReport[]): Item[] {
  const known = [...CATALOGUE, ...saved];
  if (!query.ids.every((id) => known.some((report) => report.id === id))) {
    const ids = CATALOGUE.map(({ id }) => id).join(", ");
    wrong("id", `must be the id of a saved report, or one of ${ids}`);
  }
  const chosen = query.ids.length === 0 ? CATALOGUE : known.filter(({ id }) => query.ids.includes(id));
  return chosen.map(({ id, title, description, spec }: NamedReport) => ({
    id,
    title,
    description,
    spec: {
      ...spec,
      range: query.range ?? spec.range ?? DEFAULT_FRAME.range,
      compare: query.compare ?? spec.compare ?? DEFAULT_FRAME.compare,
      filters: { ...spec.filters, ...query.filters },
    } satisfies Spec,
  }));
}

function readRange(query: URLSearchParams): Range | null {
  const name = query.get("range");
  const from = query.get("from");
  const to = query.get("to");
  if (from !== null || to !== null) {
    if (name !== null) wrong("range", "cannot be combined with from or to");
    return { from, to };
  }
  if (name === null) return null;
  const known = RANGES.find((range) => range === name);
  return known ?? wrong("range", `must be one of ${RANGES.join(", ")}`);
}

function readCompare(name: string | null): Compare | null {
  if (name === null) return null;
  const known = COMPARES.find((compare) => compare === name);
  return known ?? wrong("compare", `must be one of ${COMPARES.join(", ")}`);
}

/** Values of one dimension are separated by commas, or stand in repeated parameters. */
function readFilters(query: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const [name, value] of query) {
    const written = FILTER.exec(name)?.[1];
    if (written === undefined) continue;
    const dimension = PAYLOAD_DIMENSIONS.find((known) => known === written);
    if (!dimension) return wrong("filter", `must name one of ${PAYLOAD_DIMENSIONS.join(", ")}`);
    const values = [...(filters[dimension] ?? []), ...value.split(",")];
    checkValues(dimension, values);
    filters[dimension] = values;
  }
  return filters;
}

function checkValues(dimension: DimensionName, values: readonly string[]): void {
  const member = `filter[${dimension}]`;
  if (values.length > 50) wrong(member, "has more than 50 values");
  if (values.some((value) => value.length < 1 || !isWithinLength(value, 200))) {
    wrong(member, "each value must have 1 to 200 characters");
  }
  for (const value of values) {
    const fault = dateFault(dimension, value);
    if (fault) wrong(member, fault);
  }
}

/** What the subscription lane would have cost at list price, by client (spec, Report result). */
export const subscriptionSpec = (frame: Frame): Spec => ({
  source: "requests",
  dimensions: ["client"],
  measures: ["requests", "total_tokens", "cost_usd"],
  filters: { channel: ["subscription"] },
  ...frame,
  view: "table",
});

/** What agents that call providers directly report of themselves, by client; never added to the gateway's figures. */
export const agentEstimateSpec = (frame: Frame): Spec => ({
  source: "agent_metrics",
  dimensions: ["client"],
  measures: ["operations", "total_tokens", "estimated_cost_usd"],
  filters: {},
  ...frame,
  view: "table",
});
