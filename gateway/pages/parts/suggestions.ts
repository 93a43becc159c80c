import type { DimensionName, SourceName } from "#shared/report.ts";
import { mayAs, useMe } from "../data/me.ts";
import { useCatalogue, useReport } from "../data/reports.ts";

/** Filters of lists, and the dimension of reports that has their values. */
const DIMENSION_OF: Readonly<Record<string, DimensionName>> = {
  model: "model",
  client: "client",
  owner: "subject",
  team: "team",
  key: "key",
  route: "route",
  session: "session",
  tag: "tag",
  channel: "channel",
  server: "server",
  tool: "tool",
  repository: "repository",
};

/** What a report calls a record without such a label, and a person who is no owner alone. */
const NO_VALUE = /^(?:\(none\)|service account|.+ \(.+\))$/;

/** Values of a filter in the last 30 days, the most used first; none where reports are not the reader's. */
export function useSuggestions(source: SourceName, filter: string, isWanted: boolean): string[] {
  const { role } = useMe();
  const { data: catalogue } = useCatalogue(isWanted && mayAs(role, "manager"));
  const dimension = DIMENSION_OF[filter];
  const known = catalogue?.sources.find(({ name }) => name === source);
  const [measure] = known?.measures ?? [];
  const isKnown = dimension !== undefined && known?.dimensions.includes(dimension);
  const { data } = useReport(
    isWanted && isKnown && measure
      ? {
          source,
          dimensions: [dimension],
          measures: [measure],
          filters: {},
          range: "30d",
          compare: "none",
          view: "table",
        }
      : null,
  );
  if (data?.spec.dimensions[0] !== dimension) return [];
  return [
    ...new Set(
      (data?.rows ?? []).flatMap(({ groups: [value] }) => (value && !NO_VALUE.test(value) ? [value] : [])),
    ),
  ];
}
