import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "#drizzle/database.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { dropOldMonths } from "#drizzle/retention.ts";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { applyPrices } from "#gateway/repricing/priced-again.ts";
import type { Spec } from "#shared/report.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { type Ledger, ledger } from "./ledger.ts";

const NOW = new Date("2026-11-21T12:34:56Z");

const call = (startedAt: string, over: Partial<RequestRow> = {}): RequestRow =>
  settledRow(openRow({ startedAt, owner: "ann", session: `s-${startedAt.slice(0, 10)}` }), over);

const spec = (over: Partial<Spec> = {}): Spec => ({
  source: "requests",
  dimensions: ["month"],
  measures: ["requests", "cost_usd", "users", "sessions", "active_hours"],
  filters: {},
  range: { from: null, to: null },
  compare: "none",
  view: "table",
  ...over,
});

const figures = async (runner: Ledger["rolled"], asked = spec()) =>
  (await runner.run(asked, NOW)).rows.map(({ groups, current }) => [
    ...groups,
    ...Object.values(current ?? {}),
  ]);

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : error);

describe("what changes is marked", () => {
  let it: Ledger;
  beforeAll(async () => {
    it = await ledger();
  });
  afterAll(() => it.close());

  const rows = [
    call("2026-11-19T10:10:00Z"),
    call("2026-11-19T10:50:00Z"),
    call("2026-11-20T23:59:59.999Z", { costUsd: null, unpriced: true }),
  ];

  test("a batch marks the quarters of its records, and a replay of it marks nothing", async () => {
    await it.write(rows);
    expect(await it.marks()).toEqual([
      "2026-11-19T10:00:00.000Z",
      "2026-11-19T10:45:00.000Z",
      "2026-11-20T23:45:00.000Z",
    ]);
    await it.write(rows);
    expect(await it.marks()).toHaveLength(3);
  });

  test("a record is in the report at once: before its hour is rolled up, after it, and when it comes late", async () => {
    expect(await figures(it.rolled)).toEqual([["2026-11", 3, 0.000246, 1, 2, 2]]);
    await it.rollups.catchUp(NOW);
    expect(await it.marks()).toEqual([]);
    expect(await figures(it.rolled)).toEqual([["2026-11", 3, 0.000246, 1, 2, 2]]);
    await it.write([call("2026-11-19T10:59:00Z", { owner: "bob" })]);
    expect(await figures(it.rolled)).toEqual([["2026-11", 4, 0.000369, 2, 2, 2]]);
  });

  test("a late record waits a minute for others before its hour is made anew", async () => {
    const settle = async (at: Date) => {
      while ((await it.rollups.turn(at)) === "more");
    };
    await settle(new Date());
    expect(await it.marks()).toHaveLength(1);
    await settle(new Date(Date.now() + 61_000));
    expect(await it.marks()).toEqual([]);
    expect(await figures(it.rolled)).toEqual([["2026-11", 4, 0.000369, 2, 2, 2]]);
  });

  test("the day that was marked first is rebuilt first, even if it is the later one", async () => {
    const own = await ledger();
    await own.write([call("2026-11-18T10:10:00Z"), call("2026-11-19T10:10:00Z")]);
    await own.rollups.catchUp(NOW);
    await own.write([call("2026-11-19T10:20:00Z")]);
    await Bun.sleep(2);
    await own.write([call("2026-11-18T10:20:00Z")]);
    expect(await own.rollups.turn(NOW, false)).toBe("more");
    expect(await own.marks()).toEqual(["2026-11-18T10:15:00.000Z"]);
    await own.close();
  });

  test("pricing again marks what it changed", async () => {
    const database = openDatabase(it.database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    const price = {
      costUsd: "1.5",
      tokenCostUsd: "1.5",
      costBasis: null,
      listCostUsd: null,
      discountedCostUsd: null,
      price: null,
      unpriced: false,
      partial: false,
      oldCostUsd: null,
    };
    const priced = rows.map(({ id, startedAt }) => ({ id, startedAt, ...price }));
    expect(await applyPrices(database.db, priced, { actor: "test", reason: "repriced" })).toHaveLength(1);
    await database.close();
    expect(await it.marks()).toEqual(["2026-11-20T23:45:00.000Z"]);
    expect(await figures(it.rolled)).toEqual([["2026-11", 4, 1.500369, 2, 2, 2]]);
    await it.rollups.catchUp(NOW);
    expect(await figures(it.rolled)).toEqual([["2026-11", 4, 1.500369, 2, 2, 2]]);
  });

  test("the command rebuilds everything and shows its progress", async () => {
    await it.sql`delete from rollup_sums`;
    const command = Bun.spawn(["bun", "gateway/cli/tallygate.ts", "rollups", "rebuild"], {
      cwd: join(import.meta.dir, "../.."),
      env: { ...process.env, DATABASE_URL: it.database.url },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, progress] = await Promise.all([
      new Response(command.stdout).text(),
      new Response(command.stderr).text(),
    ]);
    expect(await command.exited).toBe(0);
    expect(progress).toMatch(/\ntallygate: 4 records, up to \d{4}-\d\d-\d\d\n$/);
    expect(printed).toMatch(/^Done: 4 records in [0-9.]+ s\n$/);
    expect(await figures(it.rolled)).toEqual(await figures(it.single));
  });
});

describe("the hour that runs", () => {
  test("is rolled up by quarters, and whoever calls again in it has one active hour", async () => {
    const it = await ledger();
    const at = (minute: number, over: Partial<RequestRow> = {}) =>
      call(new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString(), over);
    const asked = [["day"], ["model"], ["tag"], ["subject", "week"], ["session"]].map((dimensions) =>
      spec({ dimensions: dimensions as Spec["dimensions"], range: { from: "2026-11-19", to: null } }),
    );
    const agree = async () => {
      for (const one of asked) expect(await figures(it.rolled, one)).toEqual(await figures(it.single, one));
    };
    await it.write([call("2026-11-19T08:00:00Z"), at(5), at(14, { session: "s1" }), at(32)]);
    await it.rollups.catchUp(new Date("2026-11-20T10:41:00Z"));
    const [state] = await it.sql`select rolled_to from rollup_state`;
    expect(state?.["rolled_to"]).toEqual(new Date("2026-11-20T10:30:00Z"));
    await agree();
    await it.write([at(38, { session: "s1", owner: "bob" }), at(39, { session: "s2", tags: ["a", "b"] })]);
    expect(await it.marks()).toEqual(["2026-11-20T10:30:00.000Z"]);
    await agree();
    expect((await figures(it.rolled, asked[0]))[1]).toEqual(["2026-11-20", 5, 0.000615, 2, 3, 3]);
    await it.write([at(11, { session: "s3" })]);
    await agree();
    for (const minute of ["42", "51"]) {
      await it.rollups.catchUp(new Date(`2026-11-20T10:${minute}:00Z`));
      await agree();
    }
    expect(await it.marks()).toEqual([]);
    await it.close();
  });
});

describe("one writer", () => {
  test("while one process has its turn another has none, and one that is killed leaves nothing behind", async () => {
    const it = await ledger();
    const days = Array.from({ length: 25 }, (_, day) =>
      new Date(Date.UTC(2026, 9, 5 + day, day % 24)).toISOString(),
    );
    await it.write(days.flatMap((day) => [call(day), call(day, { owner: "bob", model: "m2" })]));
    await it.rollups.catchUp(NOW);
    await it.sql.begin(async (other) => {
      await other`select 1 from rollup_state for update`;
      expect(await it.rollups.turn(NOW)).toBe("busy");
    });
    for (let round = 0; round < 3; round++) {
      const child = Bun.spawn(
        [process.execPath, join(import.meta.dir, "../support/rollups-child.ts"), it.database.url],
        {
          stdout: "pipe",
        },
      );
      await child.stdout.getReader().read();
      await Bun.sleep(150 + round * 170);
      expect(await figures(it.rolled)).toEqual(await figures(it.single));
      child.kill("SIGKILL");
      await child.exited;
    }
    await it.rollups.catchUp(NOW);
    for (const dimensions of [["model"], ["subject", "week"], ["day"]] satisfies Spec["dimensions"][]) {
      expect(await figures(it.rolled, spec({ dimensions }))).toEqual(
        await figures(it.single, spec({ dimensions })),
      );
    }
    await it.close();
  });
});

describe("retention", () => {
  test("where nothing had to go yet, a percentile since the beginning stays exact", async () => {
    const young = await ledger();
    await young.write([1_000, 1_001, 1_002].map((latencyMs) => call("2026-11-19T10:10:00Z", { latencyMs })));
    await young.rollups.catchUp(NOW);
    expect(await dropOldMonths(young.database.url, new Date("2026-09-20T00:00:00Z"))).toEqual([]);
    const percentile = spec({ measures: ["latency_p95_ms"] });
    expect((await figures(young.single, percentile))[0]?.[1]).toBeCloseTo(1_001.9, 6);
    await young.close();
  });

  let it: Ledger;
  beforeAll(async () => {
    it = await ledger();
    for (const month of ["2026-08-15", "2026-11-15"]) {
      await ensurePartitions(it.database.url, new Date(`${month}T00:00:00Z`));
    }
    await it.write([
      call("2026-05-03T08:00:00Z"),
      call("2026-08-03T08:00:00Z"),
      call("2026-08-31T23:59:59Z", { owner: "bob" }),
      call("2026-09-01T00:00:00Z"),
      call("2026-11-20T08:00:00Z"),
    ]);
  });
  afterAll(() => it.close());

  const BEFORE = new Date("2026-09-20T00:00:00Z");
  const there = async () =>
    (await it.sql`select distinct to_char(started_at, 'YYYY-MM') as month from requests order by 1`).map(
      ({ month }) => month,
    );
  let all: unknown;

  test("nothing is dropped before it is rolled up", async () => {
    expect(await dropOldMonths(it.database.url, BEFORE)).toEqual([]);
    all = await figures(it.single);
    await it.rollups.catchUp(NOW);
    await it.write([call("2026-08-03T08:00:01Z", { costUsd: "0" })]);
    expect(await dropOldMonths(it.database.url, BEFORE)).toEqual([]);
    await it.rollups.catchUp(NOW);
    expect(await there()).toEqual(["2026-05", "2026-08", "2026-09", "2026-11"]);
  });

  test("a long report delays it, and nobody who writes waits for it", async () => {
    const [begun, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reading = it.sql.begin(async (report) => {
      await report`select count(*) from requests`;
      begun.resolve();
      await written.promise;
    });
    await begun.promise;
    const dropping = dropOldMonths(it.database.url, BEFORE);
    for (let i = 0; i < 15; i++) {
      await it.write([call("2026-11-21T12:00:00Z", { costUsd: "0", session: null, owner: null })]);
    }
    written.resolve();
    await reading;
    expect(await dropping).toEqual(["05", "07", "08"].map((month) => `requests_2026_${month}`));
    await it.sql`delete from requests where owner is null`;
    await it.sql`delete from rollup_marks`;
  });

  test("whole months go, and reports that reach behind tell the same as before", async () => {
    expect(await there()).toEqual(["2026-09", "2026-11"]);
    const august = ["2026-08", 3, 0.000246, 2, 2, 2];
    expect(await figures(it.rolled)).toEqual(
      (all as string[][]).map((row) => (row[0] === "2026-08" ? august : row)),
    );
    // Whoever asks gets rollups there, be they few or many.
    expect(await figures(it.single)).toEqual(await figures(it.rolled));
    await it.rollups.rebuild(NOW);
    expect(await figures(it.rolled)).toContainEqual(august);
  });

  test("what was labelled from the start still counts as such in a report of the days that are left", async () => {
    await it.sql`update requests set session = null where started_at = '2026-09-01T00:00:00Z'`;
    const days = spec({ dimensions: ["session"], range: { from: "2026-09-01", to: null } });
    expect((await it.single.run(days, NOW)).coverage).toBeNull();
  });

  test("their partitions are not made again", async () => {
    await ensurePartitions(it.database.url, new Date("2026-09-05T00:00:00Z"));
    const [made] = await it.sql`select to_regclass('requests_2026_08') as name`;
    expect(made?.["name"]).toBeNull();
  });

  test("a record that comes later still is added once, however often it is sent", async () => {
    const late = call("2026-08-03T08:30:00Z", { owner: "eve", costUsd: "2" });
    const withLate = ["2026-08", 4, 2.000246, 3, 2, 2];
    await it.write([late]);
    expect(await figures(it.rolled)).toContainEqual(withLate);
    await it.rollups.catchUp(NOW);
    expect(await figures(it.rolled)).toContainEqual(withLate);
    await it.write([late]);
    await it.rollups.catchUp(NOW);
    expect(await figures(it.rolled)).toContainEqual(withLate);
    expect(await there()).toEqual(["2026-09", "2026-11"]);
  });

  test("a try that gets no lock ends without harm", async () => {
    await it.sql.begin(async (report) => {
      await report`lock table requests in access share mode`;
      const tried = await dropOldMonths(it.database.url, new Date("2026-10-20T00:00:00Z"), 2).catch(codeOf);
      expect(tried).toEqual([]);
    });
    expect(await there()).toEqual(["2026-09", "2026-11"]);
  });
});
