import type { QueryClient } from "@tanstack/react-query";
import type { OverviewAnswer, OverviewFrame, OverviewPart } from "#shared/overview.ts";
import type { Compare } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { sendJson } from "./api.ts";
import { OF_RECORDS, versionKnown } from "./follow-records.ts";
import { compareIn, FILTER_NAMES, type FrameSearch, filtersFor, rangeOf } from "./search.ts";

export const OVERVIEW_RANGE = "mtd";

export const compareOf = (search: FrameSearch): Compare => compareIn(search, "previous_period");

/** The same for another page, whose defaults may differ. */
export const spelledOut = (search: FrameSearch): FrameSearch => ({
  ...(search.from === undefined && search.to === undefined && { range: OVERVIEW_RANGE }),
  ...search,
  compare: compareOf(search),
});

/** The reports of the Overview, each with what the answer says of all, and filters that merges cannot be narrowed by. */
export type OverviewParts = Readonly<Partial<Record<OverviewPart, QueryAnswer>>>;
type Overview = { parts: OverviewParts; notOfMerges: OverviewAnswer["not_of_merges"] };

/** The Overview of an address, in one question. */
export function overviewQuery(search: FrameSearch) {
  const frame: OverviewFrame = {
    range: rangeOf(search, OVERVIEW_RANGE),
    compare: compareOf(search),
    filters: filtersFor(search, FILTER_NAMES),
  };
  return {
    queryKey: ["overview", frame],
    queryFn: async ({ client, signal }: { client: QueryClient; signal: AbortSignal }): Promise<Overview> => {
      await versionKnown(client);
      const asked = { method: "POST", body: frame, signal } as const;
      const { parts, not_of_merges, ...facts } = await sendJson<OverviewAnswer>(
        "/v1/reports/overview",
        asked,
      );
      const named = Object.entries(parts).map(([name, part]) => [name, { ...part, ...facts }]);
      return { parts: Object.fromEntries(named), notOfMerges: not_of_merges };
    },
    meta: OF_RECORDS,
  };
}
