import fc from "fast-check";
import { sourceOf } from "#gateway/reports/sources.ts";
import type { DimensionName, Spec } from "#shared/report.ts";

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
  .chain((source) => {
    const { measures, dimensions } = sourceOf(source);
    return fc.record({
      source: fc.constant(source),
      dimensions: fc.array(fc.constantFrom(...dimensions), { maxLength: 2 }),
      measures: fc.shuffledSubarray([...measures], { minLength: 1 }),
      filters: fc
        .subarray(
          dimensions.filter((name) => VALUES[name]),
          { maxLength: 2 },
        )
        .chain((names) =>
          fc.record(Object.fromEntries(names.map((name) => [name, fc.subarray([...(VALUES[name] ?? [])])]))),
        ),
      range: fc.constantFrom(...RANGES),
      compare: fc.constantFrom("none" as const, "previous_period" as const),
      view: fc.constant("table" as const),
    });
  });

/** The same ones each time. */
export const randomSpecs = (count: number): Spec[] => fc.sample(spec, { numRuns: count, seed: 42 });
