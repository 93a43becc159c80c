import { OWN_DIMENSIONS } from "#shared/admin/me.ts";
import type { DimensionName, Result, SourceName } from "#shared/report.ts";
import { useJson } from "../data/api.ts";
import { mayAs, useMe } from "../data/me.ts";
import { useCatalogue, useReport } from "../data/reports.ts";

/** Filters of lists whose values reports have, under the same names, and those that have another one. */
const DIMENSIONS = [
  ...(["model", "client", "team", "key", "route", "session", "tag"] as const),
  ...(["channel", "server", "tool", "repository", "provider", "surface", "cost_center"] as const),
];
const OTHERS: Readonly<Record<string, DimensionName>> = { owner: "subject", direct_team: "team" };
const dimensionOf = (filter: string): DimensionName | undefined =>
  OTHERS[filter] ?? DIMENSIONS.find((name) => name === filter);

/** What a report calls a record without such a label, and a person who is no owner alone. */
const NO_VALUE = /^(?:\(none\)|service account|.+ \(.+\))$/;

/** Values of a filter in the last 30 days, the most used first; of a member's own calls where reports are not the reader's. */
export function useSuggestions(source: SourceName, filter: string, isWanted: boolean): string[] {
  const { role } = useMe();
  const isReader = mayAs(role, "manager");
  const { data: catalogue } = useCatalogue(isWanted && isReader);
  const dimension = dimensionOf(filter);
  const isOwn = isWanted && !isReader && OWN_DIMENSIONS.some((name) => name === dimension);
  const { data: own } = useJson<Result>(
    ["own", "values", dimension],
    `/v1/me/usage?by=${dimension}&range=30d`,
    {
      enabled: isOwn,
    },
  );
  // What a source has no label for may be one of calls.
  const known = [source, "requests"]
    .flatMap((name) => catalogue?.sources.find((it) => it.name === name) ?? [])
    .find(({ dimensions }) => dimension !== undefined && dimensions.includes(dimension));
  const [measure] = known?.measures ?? [];
  const { data: all } = useReport(
    isWanted && dimension && known && measure
      ? {
          source: known.name,
          dimensions: [dimension],
          measures: [measure],
          filters: {},
          range: "30d",
          compare: "none",
          view: "table",
        }
      : null,
  );
  const data = isOwn ? own : all;
  if (data?.spec.dimensions[0] !== dimension) return [];
  return [
    ...new Set(
      (data?.rows ?? []).flatMap(({ groups: [value] }) => (value && !NO_VALUE.test(value) ? [value] : [])),
    ),
  ];
}
