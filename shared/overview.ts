import { type Static, Type } from "@sinclair/typebox";
import { COMPARES, DIMENSIONS, Filters, Range, someOf } from "./report.ts";
import { QUERY_FACTS, RESULT_MEMBERS } from "./report-query.ts";
import { closed, oneOf } from "./schema.ts";

/** What the Overview is asked for. Filters that a report of it does not have are left out of that report. */
export const OverviewFrame = closed({ range: Range, compare: oneOf(COMPARES), filters: Filters });
export type OverviewFrame = Static<typeof OverviewFrame>;

const OVERVIEW_PARTS = [
  "days",
  "models",
  "people",
  "teams",
  "team_merges",
  "merge_days",
  "repositories",
  "stacked",
] as const;
export type OverviewPart = (typeof OVERVIEW_PARTS)[number];

/** The Overview's reports, of one snapshot (`POST /v1/reports/overview`). No `coverage`: it takes all records. */
export const OverviewAnswer = closed({
  parts: someOf(OVERVIEW_PARTS, closed(RESULT_MEMBERS)),
  not_of_merges: Type.Array(oneOf(DIMENSIONS), {
    description:
      "Filters that pull requests cannot be narrowed by: with any, the parts of merges are absent.",
  }),
  ...QUERY_FACTS,
});
export type OverviewAnswer = Static<typeof OverviewAnswer>;
