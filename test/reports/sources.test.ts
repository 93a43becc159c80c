import { expect, test } from "bun:test";
import { ASKABLE } from "#gateway/reports/sources.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { DIMENSIONS, MEASURES } from "#shared/report.ts";
import { ReportCatalogue } from "#shared/report-catalogue.ts";
import { faultsOf } from "#shared/schema.ts";

test("the catalogue is what its schema says", () => {
  expect(faultsOf(ReportCatalogue, ASKABLE)).toEqual([]);
});

test("whatever the catalogue offers for a source is accepted, and nothing else is", () => {
  const accepts = (source: string, dimensions: readonly string[], measures: readonly string[]): boolean => {
    try {
      checkSpec({ source, dimensions, measures, filters: {}, range: "30d", compare: "none", view: "table" });
      return true;
    } catch {
      return false;
    }
  };
  for (const { name, dimensions, measures } of ASKABLE.sources) {
    const [first = ""] = measures;
    for (const dimension of DIMENSIONS) {
      expect(accepts(name, [dimension], [first])).toBe(dimensions.includes(dimension));
    }
    for (const measure of MEASURES) expect(accepts(name, [], [measure])).toBe(measures.includes(measure));
  }
});
