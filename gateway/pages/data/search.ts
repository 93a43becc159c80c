import type { Compare, DimensionName, Filters, Range, RangeName } from "#shared/report.ts";

// The address is the state: `?range=mtd&model=gpt-5&model=claude-opus-5`. Every value is a text; several are repeated.

export type RawSearch = Record<string, string | string[]>;

export function parseSearch(text: string): RawSearch {
  // A name may be any text, such as `__proto__`.
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) found.set(name, [...(found.get(name) ?? []), value]);
  return Object.fromEntries(
    [...found].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]),
  );
}

export function stringifySearch(search: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") query.append(name, String(one));
    }
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

export const oneText = (value: unknown): string | undefined => {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" && first !== "" ? first : undefined;
};

export const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((it): it is string => typeof it === "string" && it !== "");

export const oneNameOf = <T extends string>(names: readonly T[], value: unknown): T | undefined =>
  names.find((name) => name === oneText(value));

/** Dimensions by which reports can be narrowed in an address; times are narrowed by the range. */
export const FILTER_NAMES = [
  ...(["team", "cost_center", "client", "model", "route", "subject", "key", "channel", "tag"] as const),
  ...(["session", "server", "tool", "repository", "day", "week", "month", "explanation"] as const),
  ...(["author", "pull_request", "pr_kind", "pr_lines", "pr_files"] as const),
  ...(["provider", "surface", "error", "tier", "quarter", "hour_of_day"] as const),
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

export const RANGE_NAMES = ["7d", "30d", "mtd", "last_month"] as const satisfies readonly RangeName[];

/** Range, comparison and filters of a report, as an address has them. */
export type FrameSearch = {
  range?: RangeName;
  from?: string;
  to?: string;
  compare?: Compare;
} & Partial<Record<FilterName, string[]>>;

export const defined = <T extends object>(members: { [K in keyof T]: T[K] | undefined }): T =>
  // What is left has every member that must be there.
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;

export const someTexts = (value: unknown): string[] | undefined => {
  const found = texts(value);
  return found.length > 0 ? found : undefined;
};

export const frameSearch = (raw: Record<string, unknown>): FrameSearch =>
  defined<FrameSearch>({
    range: oneNameOf(RANGE_NAMES, raw["range"]),
    from: oneText(raw["from"]),
    to: oneText(raw["to"]),
    compare: oneNameOf(["none", "previous_period"] as const, raw["compare"]),
    ...Object.fromEntries(FILTER_NAMES.map((name) => [name, someTexts(raw[name])])),
  });

export const withoutFilters = ({ range, from, to, compare }: FrameSearch): FrameSearch =>
  frameSearch({ range, from, to, compare });

export const rangeOf = ({ range, from, to }: FrameSearch, fallback: RangeName): Range =>
  from !== undefined || to !== undefined ? { from: from ?? null, to: to ?? null } : (range ?? fallback);

/** Whether an address names days themselves, which nothing before it has. */
export const namesDays = (search: FrameSearch): boolean =>
  (["day", "week", "month", "quarter"] as const).some((name) => search[name] !== undefined);

export const compareIn = (search: FrameSearch, fallback: Compare): Compare =>
  namesDays(search) ? "none" : (search.compare ?? fallback);

/** The filters that a source can take; the others are left out. */
export function filtersFor(search: FrameSearch, dimensions: readonly DimensionName[]): Filters {
  const entries = dimensions.flatMap((name) => {
    const values = search[name];
    return values && values.length > 0 ? [[name, values] as const] : [];
  });
  return Object.fromEntries(entries);
}
