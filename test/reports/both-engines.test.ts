import { expect, test } from "bun:test";
import fc from "fast-check";
import { reportRunner } from "#gateway/reporting.ts";
import { bucketKindOf } from "#gateway/reports/buckets/figures.ts";
import { aggregatesOf } from "#gateway/reports/measures.ts";
import { sourceOf } from "#gateway/reports/sources.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { type Result, type Row, SOURCES, type Spec } from "#shared/report.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "#test/support/clickhouse.ts";
import { copyTables } from "#test/support/copy-tables.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { ALL } from "#test/support/tiers.ts";
import { specOf } from "./arbitraries.ts";
import { near } from "./expect-report.ts";
import { seedMany } from "./many.ts";

const NOW = new Date("2026-03-31T10:17:00.000Z");
const [CALLS, SPECS] = process.env[ALL] ? [200_000, 300] : [2_000, 12];
/** Far more than a busy machine needs. */
const TIME_MS = 3 * 3_600_000;
const SEED = Number(process.env["SEED"] ?? 41);

const VALUES = {
  client: ["cli", "ci"],
  model: ["m1", "(none)"],
  route: ["code", "none such"],
  subject: ["person-1", "person-2 (person-1)", "service account"],
  key: ["key 1", "00000000-0000-7000-8000-000000000002"],
  team: ["web", "all", "(none)"],
  cost_center: ["cc1", "(none)"],
  channel: ["subscription", "api", "hook"],
  tag: ["x", "über", "(none)"],
  session: ["s1", "s2"],
  server: ["files", "(none)"],
  tool: ["read"],
  repository: ["acme/app-1"],
  author: ["Ann", "(none)"],
  pr_kind: ["change", "release"],
  pr_lines: ["0000 to 10", "(none)"],
  day: ["2026-03-25", "2026-03-02"],
  week: ["2026-03-23"],
  month: ["2026-02", "2026-03"],
  quarter: ["2026-Q1"],
  hour_of_day: ["00", "10", "23"],
  provider: ["openai", "(none)"],
  surface: ["messages"],
  error: ["upstream_500", "interrupted", "dns", "(none)"],
  tier: ["flex", "(none)"],
  explanation: ["joined", "no_session"],
};

const NONE: Spec = {
  source: "requests",
  dimensions: [],
  measures: [],
  filters: {},
  range: "7d",
  compare: "none",
  view: "table",
};
const range = fc.constantFrom<Spec["range"]>(
  ...(["7d", "30d", "mtd", "last_month"] as const),
  { from: "2026-02-18T10:20:00.000Z", to: "2026-03-20T00:00:00.000Z" },
  { from: "2026-02-10", to: "2026-03-25" },
  { from: null, to: null },
);
const any = fc
  .constantFrom(...SOURCES)
  .chain((source) => specOf(source, { measures: sourceOf(source).measures, values: VALUES, range }));
const isSummed = (spec: Spec): boolean => bucketKindOf(spec, aggregatesOf(spec.measures)) !== null;
const summed = fc
  .constantFrom("requests" as const, "requests" as const, "tool_calls" as const)
  .chain((source) =>
    specOf(source, {
      measures: sourceOf(source).measures.filter((name) => isSummed({ ...NONE, source, measures: [name] })),
      values: VALUES,
      range,
    }).filter(isSummed),
  );
const asked = fc.record({
  spec: fc.oneof(any, summed),
  timeZone: fc.constantFrom("UTC", "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"),
});

/** Percentiles of sums are those of a histogram. */
const isNear = (name: string, a: number | null | undefined, b: number | null | undefined) =>
  /_p\d+_ms$/.test(name) && a != null && b != null ? Math.abs(a - b) <= 0.01 * b + 0.05 : near(a, b);

/** Figures in which two rows differ. */
function apart(ours: Row | undefined, theirs: Row): unknown[] {
  if (!ours) return [["missing", theirs]];
  return (["current", "previous"] as const)
    .flatMap((side) =>
      Object.entries(theirs[side] ?? {}).flatMap(([name, value]) => {
        const other = Object.entries(ours[side] ?? {}).find(([own]) => own === name)?.[1];
        return isNear(name, other, value) ? [] : [[side, name, other, value]];
      }),
    )
    .concat(ours.floor === theirs.floor && ours.previousFloor === theirs.previousFloor ? [] : [["floor"]]);
}

function differences(ours: Result, theirs: Result): unknown[] {
  const key = (row: Row) => JSON.stringify(row.groups);
  const isByPercentile = /_p\d+_ms$/.test(ours.spec.measures[0] ?? "");
  const order = ({ rows }: Result) => (isByPercentile ? rows.map(key).sort() : rows.map(key));
  const known = new Map(ours.rows.map((row) => [key(row), row]));
  const isCut = isByPercentile && ours.rows.length === 1000;
  const found = theirs.rows.flatMap((row) =>
    isCut && !known.has(key(row)) ? [] : apart(known.get(key(row)), row),
  );
  found.push(...apart(ours.total, theirs.total));
  if (!isCut && JSON.stringify(order(ours)) !== JSON.stringify(order(theirs)))
    found.push(["order", order(ours).slice(0, 20), order(theirs).slice(0, 20)]);
  if (!Bun.deepEquals(ours.coverage, theirs.coverage)) found.push([ours.coverage, theirs.coverage]);
  return found;
}

test.skipIf(!HAS_CLICKHOUSE)(
  "any report over many records is the same by both databases, from sums and from single records",
  async () => {
    const { url } = await testDatabase();
    const sql = testSql(url);
    const orgId = "many";
    await seedMany(sql, orgId, { calls: CALLS, now: NOW, seed: SEED });
    const { clickhouseUrl, wrote } = await copyTables(await (await startClickHouse()).database(), sql);
    await wrote(orgId);
    const [postgres, clickhouse] = [null, clickhouseUrl].map((it) =>
      reportRunner({ url, orgId, clickhouseUrl: it, rollupsFrom: Number.POSITIVE_INFINITY }),
    );
    if (!postgres || !clickhouse) throw new Error("no engine");
    const failed: unknown[] = [];
    for (const { spec, timeZone } of fc.sample(asked, { numRuns: SPECS, seed: SEED })) {
      const run = (runner: typeof postgres) =>
        runner.run(checkSpec(spec), NOW, { timeZone }).catch((error: unknown) => String(error));
      const begun = performance.now();
      const ours = await run(postgres);
      const between = performance.now();
      const theirs = await run(clickhouse);
      if (process.env["TIMES"])
        console.log(
          Math.round(between - begun),
          Math.round(performance.now() - between),
          JSON.stringify(spec).slice(0, 200),
        );
      const found =
        typeof ours === "string" || typeof theirs === "string"
          ? ours === theirs
            ? []
            : [ours, theirs]
          : differences(ours, theirs);
      if (found.length > 0) failed.push({ spec: JSON.stringify(spec), timeZone, found: found.slice(0, 5) });
    }
    await Promise.all([postgres.close(), clickhouse.close()]);
    expect(failed).toEqual([]);
  },
  TIME_MS,
);
