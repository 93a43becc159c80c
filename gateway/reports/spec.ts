import type { Static, TSchema } from "@sinclair/typebox";
import { type DimensionName, type Filters, Spec } from "#shared/report.ts";
import { PayloadSpec } from "#shared/report-payload.ts";
import { faultsOf, fits } from "#shared/schema.ts";
import { refuse } from "../errors.ts";
import { dateFault } from "./dates.ts";
import { sourceOf } from "./sources.ts";

/** Longest member path that a refusal repeats; unknown members carry names of any length. */
const PATH_MAX = 100;

/** @throws GatewayError invalid_request that names a member or parameter. */
export const wrong = (member: string, reason: string): never => refuse(`${member}: ${reason}`);

/** `value` as `schema`. @throws GatewayError invalid_request naming the first faulty member below `name`, and why */
export function checkBody<T extends TSchema>(schema: T, value: unknown, name: string): Static<T> {
  if (fits(schema, value)) return value;
  const [fault = { path: "", message: "Not valid" }] = faultsOf(schema, value);
  const member = memberOf(name, fault.path);
  return wrong(member.length > PATH_MAX ? name : member, lowerFirst(fault.message));
}

/** `/filters/client/0` below `spec` as `spec.filters.client[0]`. */
function memberOf(name: string, pointer: string): string {
  const steps = pointer.split("/").slice(1);
  return name + steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join("");
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/**
 * A spec that its source can answer, without empty filters, which limit nothing; `name` is what refusals call it. `schema`: of a query's specs, or of the payload's.
 * @throws GatewayError invalid_request, naming the member and the reason.
 */
export function checkSpec(
  given: unknown,
  name = "spec",
  schema: typeof PayloadSpec | typeof Spec = Spec,
): Spec {
  const value = checkBody(schema, given, name);
  const source = sourceOf(value.source);
  value.measures.forEach((measure, i) => {
    if (!source.measures.includes(measure)) {
      wrong(`${name}.measures[${i}]`, `source ${value.source} has no measure ${measure}`);
    }
  });
  value.dimensions.forEach((dimension, i) => {
    if (!source.dimensions.includes(dimension)) {
      wrong(`${name}.dimensions[${i}]`, `source ${value.source} has no dimension ${dimension}`);
    }
  });
  const filters = filtersOf(value.filters);
  for (const [dimension, values] of filters) {
    const member = `${name}.filters.${dimension}`;
    if (!source.dimensions.includes(dimension)) {
      wrong(member, `source ${value.source} has no dimension ${dimension}`);
    }
    // Postgres's text cannot hold it, so no label ever does.
    const nul = values.findIndex((text) => text.includes("\0"));
    if (nul >= 0) wrong(`${member}[${nul}]`, "must not contain a NUL character");
    for (const [i, text] of values.entries()) {
      const fault = dateFault(dimension, text);
      if (fault) wrong(`${member}[${i}]`, fault);
    }
  }
  return { ...value, filters: Object.fromEntries(filters.filter(([, values]) => values.length > 0)) };
}

/** A spec of the payload. @throws GatewayError as `checkSpec` */
export const checkPayloadSpec = (value: unknown): Spec => checkSpec(value, "spec", PayloadSpec);

/** The filters, in the order sent. */
export const filtersOf = (filters: Filters): [DimensionName, string[]][] =>
  // The schema allows no other members.
  Object.entries(filters) as [DimensionName, string[]][];

/** The subscription lane's money is counted only where it alone is asked for: channel is exactly `subscription`. */
export const asksForLane = ({ source, filters }: Pick<Spec, "source" | "filters">): boolean =>
  source === "requests" && new Set(filters.channel).size === 1 && filters.channel?.[0] === "subscription";
