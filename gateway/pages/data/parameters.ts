import { EXPLANATIONS } from "#shared/explanation.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { FILTER_NAMES, RANGE_NAMES } from "./search.ts";
import { SOURCES, VIEWS } from "./spec-search.ts";

/** A parameter of an address: which values it may have, or what they look like, and how many at most (default: one). */
export type Parameter = {
  values?: readonly string[];
  like?: { pattern: RegExp; such: string };
  most?: number;
};
/** Everything that the address of a page may name. */
export type Parameters = Readonly<Record<string, Parameter>>;

export const each = (names: readonly string[], parameter: Parameter = {}): Parameters =>
  Object.fromEntries(names.map((name) => [name, parameter]));

const TIMES: Parameters = {
  range: { values: RANGE_NAMES },
  from: {},
  to: {},
  compare: { values: ["none", "previous_period"] },
};
/** Of a report that can be narrowed by these. */
export const frame = (names: readonly string[] = FILTER_NAMES): Parameters => ({
  ...TIMES,
  ...each(names, { most: 50 }),
});

/** What the report can be narrowed by. */
export const COSTS_FILTERS = [
  ...(["repository", "team", "cost_center", "subject", "author", "pr_lines", "pr_files"] as const),
];
export const COSTS_BY = ["repository", "team", "author", "pr_lines", "pr_files"] as const;
export const COSTS: Parameters = { ...frame(COSTS_FILTERS), by: { values: COSTS_BY } };

export const EXPLAINED_FILTERS = [
  ...(["team", "cost_center", "client", "model", "route", "subject", "key"] as const),
];
export const EXPLAINED: Parameters = { ...frame(EXPLAINED_FILTERS), explanation: { values: EXPLANATIONS } };

export const OWN_GROUPS = ["session", "model", "client"] as const;
export const OWN_USAGE: Parameters = {
  by: { values: OWN_GROUPS },
  range: { values: RANGE_NAMES },
  from: {},
  to: {},
};

const MONTH: Parameter = { like: { pattern: /^\d{4}-(0[1-9]|1[0-2])$/, such: "a month such as 2026-10" } };
export const VENDOR_BILLS: Parameters = { month: MONTH };
export const STATEMENT_BY = ["team", "cost_center"] as const;
export const STATEMENTS: Parameters = { month: MONTH, by: { values: STATEMENT_BY }, version: {} };

/** The sorting and the searches of a page's tables. */
export const tables = (...names: readonly string[]): Parameters =>
  each(names.flatMap((name) => [`${name}.sort`, `${name}.find`]));

/** Of a page with lists of resources, by the noun of each: their dialogs and tables. */
export const resources = (...nouns: readonly string[]): Parameters => ({
  add: { values: nouns },
  edit: { like: { pattern: new RegExp(`^(${nouns.join("|")}):.`, "s"), such: `${nouns[0]}:ID` } },
  ...tables(...nouns.map((noun) => noun.replaceAll(" ", "-"))),
});

export const LIVE: Parameters = { live: { values: ["off"] } };
/** Without `source`: what every source has, until the catalogue is known. */
export const explore = (source?: ReportCatalogue["sources"][number]): Parameters => ({
  ...frame(source?.dimensions),
  source: { values: SOURCES },
  view: { values: VIEWS },
  as_of: { like: { pattern: /^\d{4}-\d\d-\d\d$/, such: "a day such as 2026-11-03" } },
  by: { most: 3, ...(source && { values: [...source.dimensions, "none"] }) },
  measure: { most: 40, ...(source && { values: source.measures }) },
});
