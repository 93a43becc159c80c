import { expect, test } from "bun:test";
import { join } from "node:path";
import growth from "#test/bench/growth/growth.json";
import { withGrowth } from "#test/bench/growth/growth.ts";
import figures from "#test/bench/scale/figures.json";
import type { Figures } from "#test/bench/scale/figures.ts";
import { withTables } from "#test/bench/scale/page.ts";
import { sizeForRate, sizeForRecords } from "#test/bench/scale/sizing.ts";

const PAGE = join(import.meta.dir, "../../gateway/deploy/SIZING.md");

test("the tables of the page on sizing are those of the measured figures", async () => {
  const page = await Bun.file(PAGE).text();
  expect(withTables(page, figures)).toBe(page);
});

test("the tables of growth are those of the simulated two years", async () => {
  const page = await Bun.file(PAGE).text();
  expect(withGrowth(page, growth)).toBe(page);
});

/** Figures with which sizes can be computed by hand. */
const ROUND: Figures = {
  measuredOn: "2026-01-01",
  cores: 2,
  records: 1_000_000,
  calls: {
    plain: { gateway: 100, postgres: 100, perSecond: 1 },
    streamed: { gateway: 200, postgres: 100, perSecond: 1 },
    limited: { gateway: 150, postgres: 400, perSecond: 1 },
    workers: { gateway: 100, postgres: 100, perSecond: 1 },
    copied: { gateway: 100, postgres: 150, perSecond: 1 },
  },
  merge: { app: 5, postgres: 25 },
  postgres: { recordBytes: 1000, sumBytes: 1000, sumCpu: 800, slowestMs: 200, fastestMs: 20 },
  clickhouse: {
    records: 1_000_000,
    recordBytes: 70,
    sumBytes: 30,
    sumCpu: 5,
    insertCpuPerMillion: 40,
    reportCpuPerMillion: 1,
    slowestMs: 700,
    fastestMs: 200,
  },
};

test("a peak of 1,000 calls a second gets the cores that its calls take, with room", () => {
  // Gateway: 0.8 × 200 + 0.2 × 100 + 50 of limits = 230 µs. Postgres: 100 + 300 + 50 + 25,000 / 500 + 800 / 4 = 700 µs.
  expect(sizeForRate(1000, ROUND)).toEqual({
    rate: 1000,
    recordsPerMonth: 657_000_000,
    // 0.23 / 0.6, 0.7 / 0.5, and twice 0.04 / 0.5, each at least 2.
    cores: { gateway: 2, Postgres: 2, ClickHouse: 4 },
    saturates: { part: "Postgres", busy: 0.35 },
    usdPerMonth: 8 * 0.0408 * 730,
  });
});

test("records kept get their disks, and above ten million two ClickHouse servers that answer in two seconds", () => {
  expect(sizeForRecords(1_000_000, ROUND)).toMatchObject({
    store: "Postgres",
    isMeasured: true,
    postgresGigabytes: 2,
    clickhouseGigabytes: null,
    clickhouseCores: null,
    usdPerMonth: 0.16,
  });
  // A million records read take 1.5 s, and two of fifteen months of 100 million are 13.3 million: 20 s, in 2 s on 10 cores.
  expect(sizeForRecords(100_000_000, ROUND)).toMatchObject({
    store: "ClickHouse",
    isMeasured: false,
    postgresGigabytes: 200,
    clickhouseGigabytes: 20,
    clickhouseCores: 16,
    usdPerMonth: 220 * 0.08 + 32 * 0.0408 * 730,
  });
});
