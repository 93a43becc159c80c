import { COMPARES, DIMENSIONS, MEASURE_MEANING, MEASURES, RANGES, SOURCES, VIEWS } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { sourceOf } from "./sources.ts";

/** What each source can be asked, from the tables that decide it. */
export const ASKABLE: ReportCatalogue = {
  sources: SOURCES.map((name) => {
    const source = sourceOf(name);
    return {
      name,
      dimensions: DIMENSIONS.filter((dimension) => source.dimensions.includes(dimension)),
      measures: [...source.measures],
    };
  }),
  measures: MEASURES.map((name) => {
    const [unit, meaning] = MEASURE_MEANING[name];
    return { name, unit, meaning };
  }),
  ranges: [...RANGES],
  compares: [...COMPARES],
  views: [...VIEWS],
};
