import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Database, openDatabase } from "#drizzle/database.ts";
import type { ReportRunner } from "#gateway/reporting.ts";
import { SOURCE } from "#gateway/reports/sources.ts";
import { openRecordStore, type RecordStore } from "#gateway/stores/records.ts";
import { expireToolCalls } from "#gateway/stores/tools/expire-tool-calls.ts";
import {
  type ObservedCall,
  observationText,
  RANK,
  sessionEndText,
  toolObservation,
} from "#gateway/stores/tools/tool-calls.ts";
import { newId } from "#shared/ids.ts";
import type { DimensionName, Spec } from "#shared/report.ts";
import { keptLog } from "#test/support/embedded.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { reportEngines } from "#test/support/report-engines.ts";

let place: TestDatabase;
let database: Database;
let store: RecordStore;

beforeAll(async () => {
  place = await testDatabase();
  database = openDatabase(place.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  store = openRecordStore(place.url);
});
afterAll(async () => {
  await store.close();
  await database.close();
});

const START = Date.parse("2026-11-20T10:00:00.000Z");
const at = (ms: number) => new Date(START + ms).toISOString();
const HOOK_KEY = { id: "01900000-0000-7000-8000-00000000000a", owner: "ann", teams: null, costCenter: null };
const MCP_KEY = { id: "01900000-0000-7000-8000-00000000000b", owner: "ann", teams: null, costCenter: null };

const seen = (overrides: Partial<ObservedCall>): ObservedCall => ({
  key: HOOK_KEY,
  externalId: "toolu_1",
  startedAt: at(0),
  channel: "hook",
  status: "pending",
  decidedAt: at(0),
  userLabel: null,
  client: "claude-code",
  session: "s1",
  tags: ["nightly"],
  server: "tools",
  tool: "github__create_issue",
  latencyMs: null,
  costUsd: null,
  errorCode: null,
  errorCause: null,
  guardrail: null,
  ...overrides,
});
/** What the tool gateway sees: no session, and its own names. */
const through = (overrides: Partial<ObservedCall>): ObservedCall =>
  seen({
    key: MCP_KEY,
    channel: "mcp",
    session: null,
    tags: [],
    server: "github",
    tool: "create_issue",
    startedAt: at(4),
    costUsd: "0.002",
    ...overrides,
  });

/** All that can be seen of one call, by hooks and by the tool gateway. */
const SIGHTINGS: readonly ObservedCall[] = [
  seen({}),
  seen({ status: "ok", decidedAt: at(100), startedAt: at(1), latencyMs: 99 }),
  seen({ status: "failed", decidedAt: at(90), startedAt: at(2), latencyMs: 88, rank: RANK.failure }),
  seen({ status: "denied", decidedAt: at(5), rank: RANK.failure }),
  seen({ status: "ok", decidedAt: at(101), startedAt: at(1), latencyMs: 100 }),
  through({ status: "pending", decidedAt: at(50), latencyMs: 46 }),
  through({ status: "ok", decidedAt: at(60), latencyMs: 56 }),
  through({ status: "unknown", decidedAt: at(4) }),
];

type Told = { seen: ObservedCall; id: string } | "end of session";

let calls = 0;

/** The row that comes of it, once nothing more is told and a day has passed. */
async function rowOf(batches: readonly (readonly Told[])[]): Promise<unknown> {
  const call = `toolu_${calls++}`;
  const session = `session-${call}`;
  for (const batch of batches) {
    const texts = batch.map((told) =>
      told === "end of session"
        ? sessionEndText({ orgId: "default", origin: "ann", session, endedAt: at(200) })
        : observationText(
            toolObservation(
              { ...told.seen, externalId: call, session: told.seen.session && session },
              told.id.slice(0, -6) + calls.toString().padStart(6, "0"),
            ),
          ),
    );
    await store.insert(texts);
  }
  await expireToolCalls({
    database,
    clock: { now: () => new Date(START + 25 * 3_600_000), monotonicMs: () => 0 },
    log: keptLog(),
  });
  const [row] = await database.sql`select * from tool_calls where external_id = ${call}`;
  if (!row) return null;
  const { external_id: _, id, session: own, decided_at, rank, ...rest } = row;
  return {
    ...rest,
    own: own === session,
    id: String(id).slice(0, -6),
    ...(rank > RANK.closed && { decided_at }),
  };
}

const told = fc
  .subarray([...SIGHTINGS], { minLength: 1 })
  .map((some): Told[] => some.map((one) => ({ seen: one, id: newId() })));

test("any order, repetition and batching of what is seen of a call ends in the same row", async () => {
  await fc.assert(
    fc.asyncProperty(
      told,
      fc.boolean(),
      fc.array(fc.nat({ max: 20 }), { maxLength: 8 }),
      fc.infiniteStream(fc.nat({ max: 1000 })),
      async (sightings, ends, repeated, stream) => {
        const all: Told[] = ends ? [...sightings, "end of session"] : sightings;
        const order = () => Number(stream.next().value);
        const more = [...all, ...repeated.flatMap((index) => all[index % all.length] ?? [])];
        const shuffled = more
          .map((one) => [order(), one] as const)
          .toSorted(([a], [b]) => a - b)
          .map(([, one]) => one);
        const batches: Told[][] = [[]];
        for (const one of shuffled) {
          if (order() % 2 === 0) batches.push([]);
          batches.at(-1)?.push(one);
        }
        expect(await rowOf(batches.filter((batch) => batch.length > 0))).toEqual(
          await rowOf(all.map((one) => [one])),
        );
      },
    ),
    { numRuns: Number(process.env["TOOL_CALL_RUNS"] ?? 60) },
  );
});

test("the tool gateway's facts count, and what it does not know is the hook's", async () => {
  const row = await rowOf(
    [SIGHTINGS.slice(0, 2), SIGHTINGS.slice(6, 7)].map((some) =>
      some.map((one) => ({ seen: one, id: newId() })),
    ),
  );
  expect(row).toMatchObject({
    channel: "mcp",
    status: "ok",
    latency_ms: 56,
    cost_usd: "0.002",
    server: "github",
    tool: "create_issue",
    key_id: MCP_KEY.id,
    own: true,
    tags: ["nightly"],
  });
});

test("a call of another person with the same id is another call", async () => {
  const of = (owner: string) =>
    observationText(toolObservation(seen({ key: { ...HOOK_KEY, owner }, externalId: "shared" })));
  await store.insert([of("ann"), of("eve")]);
  expect(await database.sql`select owner from tool_calls where external_id = 'shared'`).toHaveLength(2);
});

describe("reports of tool calls", () => {
  const NOW = new Date("2026-03-31T12:00:00.000Z");
  const ORG = "figures";
  let runner: ReportRunner;

  beforeAll(async () => {
    const row = (facts: Record<string, unknown>) => ({
      org_id: ORG,
      origin: "o",
      external_id: newId(),
      id: newId(),
      started_at: "2026-03-30T10:00:00.000Z",
      channel: "mcp",
      status: "ok",
      rank: 4,
      decided_at: "2026-03-30T10:00:00.000Z",
      key_id: HOOK_KEY.id,
      owner: "ann",
      user_label: null,
      client: "claude-code",
      session: "s1",
      tags: ["ci"],
      server: "github",
      tool: "create_issue",
      latency_ms: 100,
      cost_usd: "0.01",
      ...facts,
    });
    const hook = { channel: "hook", rank: 2, server: null, tool: "Bash", cost_usd: null };
    await database.sql`insert into tool_calls ${database.sql([
      row({}),
      row({ latency_ms: 300, cost_usd: "0.03", owner: "bob", session: "s2", tags: ["ci", "nightly"] }),
      row({ status: "failed", cost_usd: "0.02", latency_ms: 200, user_label: "eve" }),
      row({ status: "denied", cost_usd: null, latency_ms: null }),
      row({ ...hook, latency_ms: 1000 }),
      row({ ...hook, status: "unknown", latency_ms: null, session: null, tags: [] }),
      row({ ...hook, status: "pending", latency_ms: null, started_at: "2026-03-31T10:00:00.000Z" }),
    ])}`;
    const engines = await reportEngines(place.url);
    await engines.wrote(ORG);
    runner = engines.runner(ORG);
  });

  const spec = (overrides: Partial<Spec>): Spec => ({
    source: "tool_calls",
    dimensions: [],
    measures: ["calls"],
    filters: {},
    range: "7d",
    compare: "none",
    view: "table",
    ...overrides,
  });

  test("every measure gives the figure that a hand gives", async () => {
    const measures = [...SOURCE.tool_calls.measures];
    const { total, rows } = await runner.run(spec({ measures, dimensions: ["server"] }), NOW);
    expect(total.current).toEqual({
      calls: 7,
      ok: 3,
      failed: 1,
      unknown: 1,
      denied: 1,
      pending: 1,
      unpriced_calls: 3,
      cost_usd: 0.06,
      cost_share: 1,
      cost_per_ok_call: 0.02,
      users: 3,
      sessions: 2,
      // 100, 300, 200 and 1,000 ms.
      latency_avg_ms: 400,
      latency_p50_ms: 250,
      latency_p95_ms: expect.closeTo(895, 6),
    });
    // Nobody knows what hooks' calls cost, so the sum is the least it can be.
    expect(total.floor).toBe(true);
    expect(
      rows.map(({ groups, current, floor }) => [groups[0], current?.calls, current?.cost_usd, floor]),
    ).toEqual([
      ["github", 4, 0.06, false],
      ["(none)", 3, null, true],
    ]);
  });

  test.each([...SOURCE.tool_calls.dimensions])("dimension %s", async (dimension) => {
    const groups: Partial<Record<DimensionName, [string, number][]>> = {
      client: [["claude-code", 7]],
      subject: [
        ["ann", 5],
        ["bob", 1],
        ["eve (ann)", 1],
      ],
      channel: [
        ["mcp", 4],
        ["hook", 3],
      ],
      tag: [
        ["ci", 6],
        ["(none)", 1],
        ["nightly", 1],
      ],
      session: [
        ["s1", 5],
        ["(none)", 1],
        ["s2", 1],
      ],
      server: [
        ["github", 4],
        ["(none)", 3],
      ],
      tool: [
        ["create_issue", 4],
        ["Bash", 3],
      ],
      day: [
        ["2026-03-30", 6],
        ["2026-03-31", 1],
      ],
      week: [["2026-03-30", 7]],
      month: [["2026-03", 7]],
      quarter: [["2026-Q1", 7]],
      hour_of_day: [["10", 7]],
      error: [["(none)", 7]],
      key: [[HOOK_KEY.id, 7]],
      team: [["(none)", 7]],
      cost_center: [["(none)", 7]],
    };
    const { rows } = await runner.run(spec({ dimensions: [dimension] }), NOW);
    expect(rows.map((row) => [row.groups[0], row.current?.calls])).toEqual(groups[dimension] as never);
  });
});
