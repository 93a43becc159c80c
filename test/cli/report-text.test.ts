import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { printableJson, shortened } from "#gateway/cli/print/printable.ts";
import { resultText } from "#gateway/cli/print/result-text.ts";
import { toCsv } from "#gateway/reports/csv.ts";
import { MEASURES, type MeasureName, type Result, type Row } from "#shared/report.ts";
import type { ReportPayload } from "#shared/report-payload.ts";
import { TALLYGATE } from "#test/support/checkout.ts";
import { scratch } from "#test/support/embedded.ts";
import { inTerminal } from "#test/support/terminal.ts";

const ADMIN_KEY = "an-admin-key-of-some-length";
const COLUMNS = 80;

const row = (groups: string[], over: Partial<Row> = {}): Row => ({
  groups,
  current: { cost_usd: 1234.5, requests: 3 },
  previous: null,
  delta: null,
  floor: false,
  previousFloor: false,
  ...over,
});

type Shape = Partial<Omit<Result, "spec">> & Partial<Pick<Result["spec"], "dimensions" | "measures">>;

const resultOf = ({
  dimensions = ["client"],
  measures = ["cost_usd", "requests"],
  ...over
}: Shape): Result => ({
  spec: {
    source: "requests",
    dimensions,
    measures,
    filters: {},
    range: "7d",
    compare: over.previousWindow ? "previous_period" : "none",
    view: "table",
  },
  window: { from: "2026-11-01T00:00:00.000Z", to: "2026-11-26T00:00:00.000Z" },
  previousWindow: null,
  rows: [],
  total: row([]),
  decomposition: null,
  coverage: null,
  ...over,
});

const widest = (text: string): number =>
  Math.max(...text.split(/\r*\n/).map((line) => Bun.stringWidth(line)));

test("names, units and dates are those of people, and the last day belongs to the window", () => {
  const current = {
    cost_per_merged_pr: 0.000042,
    latency_avg_ms: 1440,
    cache_hit_rate: 0.123,
    active_hours: 2,
    users: null,
  };
  const measures: MeasureName[] = [
    "cost_per_merged_pr",
    "latency_avg_ms",
    "cache_hit_rate",
    "active_hours",
    "users",
  ];
  const rows = [row(["2026-11"], { current, floor: true })];
  const text = resultText(
    resultOf({ dimensions: ["month"], measures, rows, total: row([], { current }) }),
    80,
  );
  expect(text).toBe(
    [
      "1 Nov 2026 to 25 Nov 2026 (UTC)",
      "            Cost per",
      "              merged",
      "                pull",
      "             request  Latency,  Cache hit  Active",
      "Month          (USD)      mean       rate   hours  People",
      "─────────────────────────────────────────────────────────",
      "Nov 2026  ≥ 0.000042     1.4 s     12.3 %     2 h       –",
      "Total       0.000042     1.4 s     12.3 %     2 h       –",
    ].join("\n"),
  );
});

test.each([
  ["2026-11-25T00:00:00.000Z", "2026-11-26T00:00:00.000Z", "25 Nov 2026 (UTC)"],
  ["2026-11-25T00:00:00.000Z", "2026-11-25T13:04:05.678Z", "25 Nov 2026 to 25 Nov 2026, 13:04:05 (UTC)"],
  [null, null, "the first record to now (UTC)"],
] as const)("the window %p to %p reads %p", (from, to, said) => {
  expect(resultText(resultOf({ window: { from, to } }), COLUMNS).split("\n")[0]).toBe(said);
});

test("a report of every measure fits, names what it leaves out, and says where to find it", () => {
  const figures = Object.fromEntries(MEASURES.map((name) => [name, 123_456_789.123]));
  const rows = [row(["a".repeat(200), "b".repeat(200)], { current: figures, delta: figures, floor: true })];
  const shape = { dimensions: ["client", "model"] as const, measures: MEASURES, rows };
  for (const previousWindow of [null, { from: null, to: null }]) {
    const text = resultText(
      resultOf({ ...shape, dimensions: [...shape.dimensions], previousWindow }),
      COLUMNS,
    );
    expect(widest(text)).toBeLessThanOrEqual(COLUMNS);
    expect(text.replaceAll("\n", " ")).toMatch(
      /Shortened\. Left out: .*; Cost per merged pull request[;.].* Names that end with "…" are cut\. --json and --csv have everything\./,
    );
  }
});

test("a report that fits says nothing of shortening", () => {
  expect(resultText(resultOf({ rows: [row(["codex"])] }), COLUMNS)).not.toContain("Shortened");
});

test("a pile of marks does not leave its line, and wide characters count twice", () => {
  expect(shortened(`e${"\u0301".repeat(10_000)}`, 10).length).toBeLessThan(10);
  for (const width of [30, 31]) {
    const cut = shortened("漢".repeat(10_000), width);
    expect(cut).toEndWith("漢…");
    expect(Bun.stringWidth(cut)).toBeLessThanOrEqual(width);
  }
});

const HOSTILE = [
  "\u001b[2J\u001b]0;owned\u0007",
  "\u009b31m\r\n\b\u007f",
  "\u202egpj.exe\u2066\u200f\u{e0001}",
  "\u2028\u2029",
  "=1+1",
  "x".repeat(10_000),
];

test("JSON with hostile names is inert, and reads back as the same", () => {
  const text = printableJson(HOSTILE);
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(text)).toEqual(HOSTILE);
});

describe("on a terminal of 80 columns", () => {
  const place = scratch();
  const result = resultOf({ rows: HOSTILE.map((name) => row([name])) });
  const payload: ReportPayload = {
    reports: [{ id: "by-client", title: HOSTILE.join(""), description: "", result }],
    subscription: resultOf({}),
    agentEstimate: resultOf({}),
  };
  let gateway: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    gateway = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) =>
        new URL(url).searchParams.has("format") ? new Response(toCsv(result)) : Response.json(payload),
    });
  });
  afterAll(async () => {
    await gateway.stop(true);
    place.remove();
  });

  /** What the command writes there. */
  async function shown(...words: string[]): Promise<string> {
    const command = [...TALLYGATE, "report", "by-client", "--url", gateway.url.origin, ...words];
    const run = inTerminal(command, { HOME: place.path, ADMIN_KEY });
    expect(await run.exited).toBe(0);
    return run.text();
  }

  test.each([[[]], [["--csv"]], [["--json"]]])("hostile names are inert with %p", async (words) => {
    const text = await shown(...words);
    // The terminal's driver ends lines with a carriage return.
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(text).toContain("=1+1");
    if (words.length === 0) expect(widest(text)).toBeLessThanOrEqual(COLUMNS);
    if (words.includes("--csv")) expect(text).toContain("\n'=1+1,1234.5,3,false");
  });
});
