import fc from "fast-check";
import { sourceOf } from "#gateway/reports/sources.ts";
import type { MeasureName, Spec } from "#shared/report.ts";
import type { World } from "./world.ts";

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

/** Instants on and around the edges of the periods, and some in between. */
export const edges = fc
  .tuple(
    fc.constantFrom(
      "2026-02-01T00:00:00Z",
      "2026-03-01T00:00:00Z",
      "2026-03-18T10:00:00Z",
      "2026-03-25T00:00:00Z",
      "2026-03-31T10:00:00Z",
    ),
    fc.constantFrom(-1, 0, 1, 3_600_000, 86_400_000 * 3, -86_400_000 * 5),
  )
  .map(([base, offset]) => new Date(Date.parse(base) + offset).toISOString());
const session = fc.constantFrom("s1", "s2", "s3", "s4");
const usd = fc.integer({ min: 0, max: 5_000_000 }).map((micros) => (micros / 1e6).toFixed(6));
const tokens = maybe(fc.integer({ min: 0, max: 5_000 }));
const ms = maybe(fc.integer({ min: 0, max: 9_000 }));

const requestAt = (at: fc.Arbitrary<string>) =>
  fc.record({
    at,
    channel: fc.constantFrom("api" as const, "api" as const, "subscription" as const, "batch" as const),
    client: fc.constantFrom("cli", "ide"),
    model: maybe(fc.constantFrom("m1", "m2")),
    route: fc.constantFrom("chat", "code"),
    key: fc.constantFrom("a", "b", "c"),
    owner: maybe(fc.constantFrom("ann", "bob")),
    user: maybe(fc.constantFrom("ann", "eve")),
    // One team moves, and one has no cost centre.
    teams: maybe(fc.constantFrom<string[]>(["web", "all"], ["api", "web", "all"], ["api", "ops"], ["ops"])),
    costCenter: maybe(fc.constantFrom("cc1", "cc2")),
    session: maybe(session),
    tags: fc.subarray(["x", "y", "z"]),
    latencyMs: ms,
    ttftMs: ms,
    input: tokens,
    cached: tokens,
    output: tokens,
    cost: fc.oneof({ weight: 4, arbitrary: usd }, { weight: 1, arbitrary: fc.constant(null) }),
    partial: fc.boolean(),
    provider: maybe(fc.constantFrom("openai", "bedrock")),
    surface: fc.constantFrom("chat.completions", "messages"),
    state: fc.constantFrom("ok", "ok", "client_gone", "upstream_error", "interrupted"),
    error: maybe(fc.constant("upstream_500")),
    tier: maybe(fc.constantFrom("priority", "flex")),
    reasoning: tokens,
    written: tokens,
    basis: maybe(fc.constantFrom("contract", "vendor", "interactive", "batch")),
    listCost: maybe(usd),
    // Its counts are those of the price alone, as far as sums go.
    price: maybe(
      fc.constantFrom(
        "input 17 0.000003|cache_read 900 0.0000003|cache_write_5m 40 0.00000375|output 5 0.000015|list:m1",
        "input 17 0.000003|cache_read 700 0.0000015|list:m1",
        "cache_read 900 0.0000003|output 5 0.000015|list:m1",
        "input 17 0.000003|input 9 0.000001|cache_read 900 0.0000003|list:m1, list:m2",
      ),
    ),
  });

const pullRequest = fc.record({
  repository: fc.constantFrom(1, 2),
  number: fc.integer({ min: 1, max: 6 }),
  mergedAt: maybe(edges),
  link: fc.constantFrom(
    ...["joined", "joined", "unknown_session", "no_stamp", "conflict", "claimed", "open", "not_merged"],
  ),
  session: session,
  author: maybe(fc.constantFrom("Ann", "bob")),
  kind: maybe(fc.constantFrom("change", "release", "backport")),
  additions: maybe(fc.constantFrom(0, 9, 10, 500, 5_000)),
  files: maybe(fc.constantFrom(1, 2, 50)),
  sha: fc.constantFrom("aa", "bb", "cc", "dd"),
  revertsByBranch: maybe(fc.integer({ min: 1, max: 6 })),
  revertsByBody: fc.array(
    fc.record({ repository: fc.constant(null), number: fc.integer({ min: 1, max: 6 }) }),
    { maxLength: 1 },
  ),
  revertsBySha: fc.subarray(["aa", "bb"], { maxLength: 1 }),
});

const review = fc.record({
  repository: fc.constantFrom(1, 2),
  number: fc.integer({ min: 1, max: 6 }),
  reviewer: maybe(fc.constantFrom("ann", "eve")),
  id: fc.integer({ min: 1, max: 9 }),
  submittedAt: edges,
  session: maybe(session),
  dismissed: fc.boolean(),
});

/** Records at such instants, at most so many of them. */
export const worldOf = (at: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<World> =>
  fc.record({
    keys: fc.constant<Record<string, string>>({ a: "laptop", b: "ci" }),
    requests: fc.array(requestAt(at), { maxLength }),
    repositories: fc.constant([{ id: 1, fullName: "acme/app" }]),
    pullRequests: fc.uniqueArray(pullRequest, {
      selector: (pr) => `${pr.repository}#${pr.number}`,
      maxLength: 9,
    }),
    reviews: fc.uniqueArray(review, { selector: (it) => `${it.repository}!${it.id}`, maxLength: 6 }),
  });

const VALUES: Partial<Record<string, string[]>> = {
  client: ["cli"],
  model: ["m1", "(none)"],
  route: ["code", "none such"],
  subject: ["ann", "eve (bob)", "(none)"],
  key: ["ci"],
  team: ["web", "all", "(none)"],
  cost_center: ["cc1", "(none)"],
  channel: ["subscription", "api"],
  tag: ["x", "(none)"],
  session: ["s1", "s2"],
  repository: ["acme/app"],
  day: ["2026-03-25"],
  month: ["2026-02", "2026-03"],
  author: ["Ann", "(none)"],
  pr_kind: ["change", "release"],
  pr_lines: ["0000 to 10", "(none)"],
  explanation: ["joined", "open", "no_session"],
  provider: ["openai", "(none)"],
  surface: ["messages"],
  error: ["upstream_500", "interrupted", "(none)"],
  tier: ["flex", "(none)"],
  quarter: ["2026-Q1"],
  hour_of_day: ["00", "10", "23"],
};

type Legal = {
  measures: readonly MeasureName[];
  /** What filters may name. */
  values: Partial<Record<string, readonly string[]>>;
  range: fc.Arbitrary<Spec["range"]>;
};

/** Any legal spec of a source. */
export const specOf = (source: Spec["source"], { measures, values, range }: Legal): fc.Arbitrary<Spec> => {
  const { dimensions } = sourceOf(source);
  return fc.record({
    source: fc.constant(source),
    dimensions: fc.array(fc.constantFrom(...dimensions), { maxLength: 3 }),
    measures: fc.shuffledSubarray([...measures], { minLength: 1 }),
    filters: fc
      .subarray(
        dimensions.filter((name) => values[name]),
        { maxLength: 2 },
      )
      .chain((names) =>
        fc.record(
          Object.fromEntries(
            names.map((name) => [name, fc.subarray([...(values[name] ?? [])], { minLength: 1 })]),
          ),
        ),
      ),
    range,
    compare: fc.constantFrom("none" as const, "previous_period" as const),
    view: fc.constant("table" as const),
  });
};

export const spec: fc.Arbitrary<Spec> = fc
  .tuple(
    fc.constantFrom("requests" as const, "requests" as const, "outcomes" as const),
    // As a manager's reports are.
    fc.constantFrom<Partial<Spec>>({}, {}, { filters: { team: ["all"] } }, { filters: { team: ["web"] } }),
  )
  .chain(([source, forced]) =>
    specOf(source, {
      measures: sourceOf(source).measures.filter((name) => name !== "cost_decomposition"),
      values: VALUES,
      range: fc.constantFrom<Spec["range"]>(
        "7d",
        "30d",
        "mtd",
        "last_month",
        { from: "2026-03-18T10:00:00.000Z", to: null },
        { from: null, to: "2026-03-25" },
        // Of single records alone; and one that ends within an hour of a past day.
        { from: "2026-03-31T10:10:00.000Z", to: "2026-03-31T10:42:00.000Z" },
        { from: "2026-03-05", to: "2026-03-18T10:40:00.001Z" },
      ),
    }).map((asked) => ({ ...asked, ...forced })),
  );
