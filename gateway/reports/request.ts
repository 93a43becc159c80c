import { type Static, Type } from "@sinclair/typebox";
import {
  COMPARES,
  type Compare,
  DIMENSIONS,
  type DimensionName,
  type Filters,
  RANGES,
  Range,
  type Spec,
} from "#shared/report.ts";
import { closed, oneOf } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import { CATALOGUE, type CatalogueEntry } from "./catalogue.ts";

/** Range and comparison of a call, which the subscription's and the agents' results take too. */
export type Frame = { range: Range; compare: Compare };

export const DEFAULT_FRAME: Frame = { range: "30d", compare: "none" };

/** A report to run. Its spec is not checked yet: an item that fails is answered without a result. */
export type Item = { id: string; title: string; description: string; spec: unknown };

/** Body of `POST /v1/reports`. `range` and `compare` are those of `subscription` and `agentEstimate`. */
export const ReportsBody = closed({
  specs: Type.Array(
    closed({
      id: Type.String({ minLength: 1, maxLength: 200 }),
      title: Type.String({ maxLength: 200 }),
      description: Type.String({ maxLength: 2000 }),
      spec: Type.Unknown(),
    }),
    { maxItems: 50 },
  ),
  range: Type.Optional(Range),
  compare: Type.Optional(oneOf(COMPARES)),
});
export type ReportsBody = Static<typeof ReportsBody>;

/** Body of `POST /v1/reports/query`; the spec is checked apart. */
export const QueryBody = closed({ spec: Type.Unknown() });

const MEMBERS = new Set(["range", "from", "to", "compare", "id"]);
const FILTER = /^filter\[([a-z_]*)\]$/;

const refuse = (member: string, reason: string): never => {
  throw new GatewayError("invalid_request", `${member}: ${reason}`);
};

/**
 * The built-in reports that a query string asks for (`range` or `from` and `to`, `compare`, `id` repeated,
 * `filter[dimension]=a,b`).
 * @throws GatewayError invalid_request, naming the parameter and the reason.
 */
export function readQuery(query: URLSearchParams): { frame: Frame; items: Item[] } {
  for (const name of query.keys()) {
    if (!MEMBERS.has(name) && !FILTER.test(name)) {
      refuse("query", `there are only ${[...MEMBERS].join(", ")} and filter[dimension]`);
    }
  }
  const frame = { range: readRange(query), compare: readCompare(query.get("compare")) };
  const filters = readFilters(query);
  const items = chosen(query.getAll("id")).map(({ spec, ...entry }) => ({
    ...entry,
    spec: { ...spec, ...frame, filters } satisfies Spec,
  }));
  return { frame, items };
}

function readRange(query: URLSearchParams): Range {
  const name = query.get("range");
  const from = query.get("from");
  const to = query.get("to");
  if (from !== null || to !== null) {
    if (name !== null) refuse("range", "is given beside from or to");
    return { from, to };
  }
  if (name === null) return DEFAULT_FRAME.range;
  const known = RANGES.find((range) => range === name);
  return known ?? refuse("range", `must be one of ${RANGES.join(", ")}`);
}

function readCompare(name: string | null): Compare {
  if (name === null) return DEFAULT_FRAME.compare;
  const known = COMPARES.find((compare) => compare === name);
  return known ?? refuse("compare", `must be one of ${COMPARES.join(", ")}`);
}

/** Values of one dimension are separated by commas, or stand in repeated parameters. */
function readFilters(query: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const [name, value] of query) {
    const written = FILTER.exec(name)?.[1];
    if (written === undefined) continue;
    const dimension = DIMENSIONS.find((known) => known === written);
    if (!dimension) return refuse("filter", `must name one of ${DIMENSIONS.join(", ")}`);
    const values = [...(filters[dimension] ?? []), ...value.split(",")];
    checkValues(dimension, values);
    filters[dimension] = values;
  }
  return filters;
}

function checkValues(dimension: DimensionName, values: readonly string[]): void {
  const member = `filter[${dimension}]`;
  if (values.length > 50) refuse(member, "has more than 50 values");
  if (values.some((value) => value.length < 1 || value.length > 200)) {
    refuse(member, "each value must have 1 to 200 characters");
  }
}

function chosen(ids: readonly string[]): readonly CatalogueEntry[] {
  if (ids.length === 0) return CATALOGUE;
  if (!ids.every((id) => CATALOGUE.some((entry) => entry.id === id))) {
    refuse("id", `must be one of ${CATALOGUE.map((entry) => entry.id).join(", ")}`);
  }
  return CATALOGUE.filter((entry) => ids.includes(entry.id));
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
