import fc from "fast-check";
import { sourceOf } from "#gateway/reports/sources.ts";
import type { DimensionName, Spec } from "#shared/report.ts";
import { specOf } from "#test/reports/arbitraries.ts";

/** Texts that the generated records have. */
const VALUES: Partial<Record<DimensionName, readonly string[]>> = {
  client: ["client-0", "client-3", "(none)"],
  model: ["model-0", "model-1", "model-7", "model-20"],
  route: ["route-0", "route-2"],
  subject: ["person-0000@example.com", "person-0040@example.com", "person-1200@example.com"],
  key: ["key-0", "key-17"],
  channel: ["api", "subscription", "batch"],
  tag: ["team-0", "team-4", "(none)"],
  repository: ["acme/repository-1", "acme/repository-9"],
  month: ["2026-10", "2026-11"],
};

const RANGES: Spec["range"][] = [
  "7d",
  "30d",
  "mtd",
  "last_month",
  { from: "2026-09-03T07:20:00.000Z", to: "2026-10-20T13:10:00.000Z" },
  { from: "2026-10-04", to: null },
  { from: null, to: null },
];

const spec: fc.Arbitrary<Spec> = fc
  .constantFrom("requests" as const, "requests" as const, "requests" as const, "outcomes" as const)
  .chain((source) =>
    specOf(source, {
      measures: sourceOf(source).measures,
      values: VALUES,
      range: fc.constantFrom(...RANGES),
    }),
  );

/** The same ones each time for a seed. */
export const randomSpecs = (count: number, seed: number): Spec[] => fc.sample(spec, { numRuns: count, seed });
