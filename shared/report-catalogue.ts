import { type Static, Type } from "@sinclair/typebox";
import { COMPARES, DIMENSIONS, MEASURES, RANGES, SOURCES, VIEWS } from "./report.ts";
import { closed, oneOf } from "./schema.ts";

/** The legal combinations of a report's parameters, and what each measure means. */
export const ReportCatalogue = closed({
  sources: Type.Array(
    closed({
      name: oneOf(SOURCES),
      dimensions: Type.Array(oneOf(DIMENSIONS)),
      measures: Type.Array(oneOf(MEASURES)),
    }),
  ),
  measures: Type.Array(
    closed({
      name: oneOf(MEASURES),
      unit: oneOf(["count", "tokens", "USD", "ms", "hours", "fraction"]),
      meaning: Type.String(),
    }),
  ),
  ranges: Type.Array(oneOf(RANGES)),
  compares: Type.Array(oneOf(COMPARES)),
  views: Type.Array(oneOf(VIEWS)),
});
export type ReportCatalogue = Static<typeof ReportCatalogue>;
