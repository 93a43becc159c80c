import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import { Elysia } from "elysia";
import { connect } from "#drizzle/database.ts";
import { ERRORS, GatewayError } from "#gateway/errors.ts";
import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import type { NamedReport } from "#gateway/reports/request.ts";
import { sourceOf } from "#gateway/reports/sources.ts";
import { recordVersion } from "#gateway/stores/reports/record-version.ts";
import { type ReportWriter, reportWriter } from "#gateway/stores/reports/report-writer.ts";
import { type ReportsDeps, reports } from "#gateway/surfaces/reports.ts";
import { type VersionDeps, version } from "#gateway/surfaces/version.ts";
import { systemClock } from "#shared/clock.ts";
import type { LogFields } from "#shared/log.ts";
import { OverviewAnswer } from "#shared/overview.ts";
import type { Spec } from "#shared/report.ts";
import { ReportPayload } from "#shared/report-payload.ts";
import { QueryAnswer, QueryAnswers, RecordsVersion } from "#shared/report-query.ts";
import { faultsOf } from "#shared/schema.ts";
import { patient } from "#test/support/patient.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { GOLDEN, NOW } from "./golden-world.ts";
import { seed } from "./world.ts";

let database: TestDatabase;
let writer: ReportWriter;
const logged: [LogFields, string][] = [];

beforeAll(async () => {
  database = await testDatabase();
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await seed(sql, "default", GOLDEN);
  await sql.end();
  writer = writerOf(database.url);
});
afterAll(async () => {
  await writer.close();
  await database.close();
});

const write = (fields: LogFields, message: string) => void logged.push([fields, message]);
const log: ReportsDeps["log"] = { debug: write, info: write, warn: write, error: write, child: () => log };

const writerOf = (url: string) => reportWriter({ url, mainUrl: url }, { log, clock: systemClock });

type SurfaceDeps = ReportsDeps & VersionDeps;

/** The surface with a key `manager` that may read, and any other key that may not. */
function surface(over: Partial<SurfaceDeps> = {}) {
  const deps: SurfaceDeps = {
    ...patient(),
    reportWriter: writer,
    recordVersion: async () => 7,
    savedReports: async () => [],
    reportTimeZone: () => "UTC",
    exported: async () => undefined,
    authorizeReports: async (request) => {
      const key = request.headers.get("authorization");
      if (key === null) throw new GatewayError("unauthenticated");
      if (key !== "Bearer manager") throw new GatewayError("reports_not_allowed");
      return { actor: key, scope: null, saved: null, cookie: null };
    },
    settled: async () => undefined,
    clock: { now: () => NOW, monotonicMs: () => 0 },
    log,
    ...over,
  };
  return new Elysia({ normalize: false })
    .onError(({ error }) => {
      const type = error instanceof GatewayError ? error.type : "internal";
      const message = error instanceof Error ? error.message : "";
      return Response.json({ error: { type, message } }, { status: ERRORS[type].status });
    })
    .use(reports(deps))
    .use(version(deps));
}

async function call(
  path: string,
  { key = "manager", body, deps }: { key?: string | null; body?: unknown; deps?: Partial<SurfaceDeps> } = {},
) {
  const response = await surface(deps).handle(
    new Request(`http://localhost${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        "content-type": "application/json",
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}

const SPEC: Spec = {
  source: "requests",
  dimensions: ["model"],
  measures: ["cost_usd", "requests"],
  filters: {},
  range: "7d",
  compare: "none",
  view: "table",
};
const NOW_BEFORE = new Date(NOW.getTime() - 1);
const item = (id: string, spec: unknown) => ({ id, title: "T", description: "D", spec });

describe("GET /v1/reports", () => {
  test("answers the payload: the built-in reports, the subscription and the agents' estimate", async () => {
    const { status, json } = await call("/v1/reports?range=7d&compare=previous_period");
    expect([status, faultsOf(ReportPayload, json())]).toEqual([200, []]);
    const payload = json() as ReportPayload;
    expect(payload.reports.every(({ result }) => result !== null)).toBe(true);
    expect(payload.subscription.spec.filters).toEqual({ channel: ["subscription"] });
    expect(payload.subscription.rows.map(({ groups, current }) => [groups, current])).toEqual([
      [["cli"], { requests: 1, total_tokens: 5500, cost_usd: 0.9 }],
    ]);
    expect(payload.agentEstimate.total.current).toEqual({
      operations: 0,
      total_tokens: 0,
      estimated_cost_usd: 0,
    });
    expect(payload.agentEstimate.previousWindow).toEqual(payload.subscription.previousWindow);
  });

  test.each([
    ["gzip", true],
    ["br, GZIP;q=0.5", true],
    ["gzip;q=0", false],
    ["gzip;q=0.000, deflate", false],
    ["br", false],
    [null, false],
  ])("leaves compressed only for who takes that (%p)", async (codings, isPacked) => {
    const headers = { authorization: "Bearer manager", ...(codings && { "accept-encoding": codings }) };
    const answer = await surface().handle(
      new Request("http://localhost/v1/reports?id=spend-overview,spend-by-model,spend-by-route", { headers }),
    );
    expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual([
      isPacked ? "gzip" : null,
      "accept-encoding",
    ]);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const text = new TextDecoder().decode(isPacked ? Bun.gunzipSync(bytes) : bytes);
    expect(faultsOf(ReportPayload, JSON.parse(text))).toEqual([]);
  });

  test("a filter that a report cannot take leaves that report without a result, and the others whole", async () => {
    const { json } = await call("/v1/reports?range=7d&filter[model]=opus");
    const { reports: items, subscription } = json() as ReportPayload;
    const without = CATALOGUE.filter(({ spec }) => !sourceOf(spec.source).dimensions.includes("model"));
    const failed = items.filter(({ result }) => result === null).map(({ id }) => id);
    expect(failed).toEqual(without.map(({ id }) => id));
    expect(failed).toContain("cost-per-merged-pr");
    expect(items[0]?.result?.total.current?.cost_usd).toBe(0.2001);
    // The subscription's own filter is part of what it is.
    expect(subscription.total.current?.requests).toBe(1);
  });

  test("a bad parameter is 400 with its name", async () => {
    const { status, json } = await call("/v1/reports?range=9d");
    expect([status, json().error.message]).toEqual([400, "range: must be one of 7d, 30d, mtd, last_month"]);
  });
});

describe("POST /v1/reports", () => {
  test("answers each item under its own id, and null for one that fails", async () => {
    logged.length = 0;
    const bad = { ...SPEC, measures: ["merged_prs"] };
    const body = { specs: [item("a", SPEC), item("b", bad), item("c", "prompt text")] };
    const { status, json } = await call("/v1/reports", { body });
    const payload = json() as ReportPayload;
    expect([status, faultsOf(ReportPayload, payload)]).toEqual([200, []]);
    expect(payload.reports.map(({ id, result }) => [id, result?.total.current ?? null])).toEqual([
      ["a", { cost_usd: 0.3341, requests: 12 }],
      ["b", null],
      ["c", null],
    ]);
    expect(JSON.stringify(logged)).not.toContain("prompt text");
  });

  test("a range that cannot be is refused once, and leaves no line for every report in the log", async () => {
    logged.length = 0;
    const { status, json } = await call("/v1/reports?from=yesterday");
    expect([status, json().error.type]).toEqual([400, "invalid_request"]);
    expect(logged).toEqual([]);
  });

  test("range and compare of the body are those of subscription and agentEstimate", async () => {
    const { json } = await call("/v1/reports", {
      body: { specs: [], range: "mtd", compare: "previous_period" },
    });
    const { subscription, agentEstimate } = json() as ReportPayload;
    for (const { spec } of [subscription, agentEstimate]) {
      expect([spec.range, spec.compare]).toEqual(["mtd", "previous_period"]);
    }
  });

  test.each<[unknown, string]>([
    [{}, "body.specs: expected required property"],
    [{ specs: [{ id: "a" }] }, "body.specs[0].title: expected required property"],
    [
      { specs: Array(51).fill(item("a", SPEC)) },
      "body.specs: expected array length to be less or equal to 50",
    ],
    [{ specs: [], extra: 1 }, "body.extra: unexpected property"],
    ["{", "body: is not JSON"],
    ["\u0000", "body: is not JSON"],
  ])("a bad body is 400, with the member and the reason", async (body, message) => {
    const { status, json } = await call("/v1/reports", { body });
    expect([status, json().error.message]).toEqual([400, message]);
  });
});

describe("POST /v1/reports/overview", () => {
  const frame = { range: "30d", compare: "previous_period", filters: {} };
  const overview = async (body: object) => await call("/v1/reports/overview", { body });

  test("answers the parts of the Overview, each as its report is alone", async () => {
    const { status, json } = await overview(frame);
    expect([status, faultsOf(OverviewAnswer, json())]).toEqual([200, []]);
    const { parts } = json() as OverviewAnswer;
    for (const name of [
      ...(["days", "models", "stacked", "people", "teams", "team_merges", "repositories"] as const),
    ]) {
      const alone = (await call("/v1/reports/query", { body: { spec: parts[name]?.spec } })).json();
      expect([name, parts[name]?.total]).toEqual([name, alone.total]);
      // It takes all records to know, and no part of the page shows it.
      expect([name, parts[name]?.coverage]).toEqual([name, null]);
      const rows = (result: QueryAnswer) =>
        result.rows.filter(({ current }) => name === "days" || (current?.merged_prs ?? 1) > 0);
      const shown = parts[name]?.rows.length;
      expect([name, parts[name]?.rows]).toEqual([name, rows(alone).slice(0, shown)]);
    }
  });

  test("has no merges where a filter cannot narrow them, and says which", async () => {
    const filters = { model: ["claude-sonnet-4-5"], team: ["a"] };
    const answer = (await overview({ ...frame, filters })).json() as OverviewAnswer;
    expect([answer.not_of_merges, answer.parts.repositories, answer.parts.merge_days]).toEqual([
      ["model"],
      undefined,
      undefined,
    ]);
    expect(answer.parts.days?.spec.filters).toEqual(filters);
    const all = (await overview({ ...frame, filters: { model: [] } })).json() as OverviewAnswer;
    expect([all.not_of_merges, all.parts.repositories?.spec.filters]).toEqual([[], {}]);
  });

  test.each([
    [{ ...frame, range: "8d" }, "body.range"],
    [{ ...frame, filters: { day: ["2026-13-01"] } }, "spec.filters.day"],
    [{ ...frame, id: "a" }, "body.id"],
  ])("refuses %p", async (body, member) => {
    const { status, json } = await overview(body);
    expect([status, json().error.message.startsWith(member)]).toEqual([400, true]);
  });
});

describe("POST /v1/reports/query", () => {
  test("answers one result", async () => {
    const { status, json } = await call("/v1/reports/query", { body: { spec: SPEC } });
    expect([status, faultsOf(QueryAnswer, json())]).toEqual([200, []]);
    expect(json().spec).toEqual(SPEC);
  });

  test("says beside it what it covers, and the payload of GET and POST /v1/reports does not", async () => {
    const { json } = await call("/v1/reports/query", { body: { spec: SPEC } });
    const facts = {
      scope: null,
      empty: false,
      ceiling: false,
      complete: true,
      time_zone: "UTC",
      as_of: NOW.toISOString(),
    };
    expect(json()).toMatchObject(facts);
    const payload = (await call("/v1/reports?id=spend-by-model")).json();
    expect(faultsOf(ReportPayload, payload)).toEqual([]);
  });

  test("has days of a time zone: the one asked for, else the setting's; the payload has those of UTC", async () => {
    const day = { ...SPEC, dimensions: ["day"], range: { from: "2026-11-20", to: "2026-11-20" } };
    const ask = async (body: object, deps: Partial<SurfaceDeps> = {}) =>
      (await call("/v1/reports/query", { body: { spec: day, ...body }, deps })).json();
    const setting = { reportTimeZone: () => "Asia/Tokyo" };
    const tokyo = { from: "2026-11-19T15:00:00.000Z", to: "2026-11-20T15:00:00.000Z" };
    expect(await ask({}, setting)).toMatchObject({ time_zone: "Asia/Tokyo", window: tokyo });
    const berlin = await ask({ time_zone: "Europe/Berlin" }, setting);
    expect(berlin).toMatchObject({
      time_zone: "Europe/Berlin",
      window: { from: "2026-11-19T23:00:00.000Z", to: "2026-11-20T23:00:00.000Z" },
    });
    const { subscription } = (
      await call("/v1/reports?from=2026-11-20&to=2026-11-20", { deps: setting })
    ).json();
    expect(subscription.window.from).toBe("2026-11-20T00:00:00.000Z");
    const file = await call("/v1/reports/query?format=csv", { body: { spec: day }, deps: setting });
    expect(file.headers.get("content-disposition")).toContain("requests-2026-11-20-to-2026-11-20.csv");
  });

  test("takes an instant whose costs are asked for, and says it beside the result", async () => {
    const at = "2026-11-10T00:00:00.000Z";
    const { status, json } = await call("/v1/reports/query", { body: { spec: SPEC, as_of: "2026-11-10" } });
    expect([status, faultsOf(QueryAnswer, json())]).toEqual([200, []]);
    expect(json()).toMatchObject({ as_of: at, window: { to: at } });
    const csv = await call("/v1/reports/query?format=csv", { body: { spec: SPEC, as_of: at } });
    expect(csv.status).toBe(200);
    for (const [source, measure] of [
      ["tool_calls", "calls"],
      ["agent_metrics", "operations"],
      ["outcomes", "merged_prs"],
    ]) {
      const spec = { ...SPEC, source, dimensions: ["session"], measures: [measure] };
      const other = await call("/v1/reports/query", { body: { spec, as_of: at } });
      expect([source, other.status]).toEqual([source, 200]);
    }
    for (const wrong of ["2099-01-01", "yesterday"]) {
      const refused = await call("/v1/reports/query", { body: { spec: SPEC, as_of: wrong } });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("body.as_of: ")]);
    }
    const payload = await call("/v1/reports", { body: { specs: [item("a", SPEC)], as_of: at } });
    expect(payload.status).toBe(400);
  });

  test.each(["Nowhere", "+05:30", "europe/berlin", ""])("a time zone %p is 400", async (zone) => {
    const { status, json } = await call("/v1/reports/query", { body: { spec: SPEC, time_zone: zone } });
    expect([status, json().error.message]).toEqual([
      400,
      "body.time_zone: must be the name of an IANA time zone, such as Europe/Berlin",
    ]);
  });

  test("is empty where its windows have no records, however it is grouped", async () => {
    const ask = async (over: Partial<Spec>) =>
      (await call("/v1/reports/query", { body: { spec: { ...SPEC, ...over } } })).json().empty;
    expect(await ask({ dimensions: [] })).toBe(false);
    expect(await ask({ dimensions: [], filters: { client: ["none such"] } })).toBe(true);
    expect(await ask({ range: { from: "2020-01-01", to: "2020-01-02" } })).toBe(true);
  });

  test("answers several reports of one snapshot, however the records change meanwhile", async () => {
    const specs = Array.from({ length: 20 }, (_, i) => ({ ...SPEC, dimensions: i % 2 ? [] : ["model"] }));
    const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    const { requests: [first] = [] } = GOLDEN;
    let isOver = false;
    const writing = (async () => {
      while (!isOver)
        await seed(sql, "default", {
          requests: [{ ...first, at: NOW_BEFORE.toISOString(), client: "another", cost: "0" }],
        });
    })();
    const { status, json } = await call("/v1/reports/query", { body: { specs } });
    isOver = true;
    await writing;
    expect([status, faultsOf(QueryAnswers, json())]).toEqual([200, []]);
    const { results } = json() as QueryAnswers;
    expect(new Set(results.map(({ total }) => total.current?.requests)).size).toBe(1);
    await sql`delete from requests where client = 'another'`;
    await sql.end();
  });

  test("a report without the latest calls says so: in the answer, and in a header", async () => {
    const deps = { settled: () => Promise.reject(new Error("disk")) };
    const query = await call("/v1/reports/query", { body: { spec: SPEC }, deps });
    expect(query.json().complete).toBe(false);
    const header = async (path: string, body?: unknown, over = deps) =>
      (await call(path, { body, deps: over })).headers.get("x-gateway-report-incomplete");
    expect(await header("/v1/reports?id=spend-by-day")).toBe("true");
    expect(await header("/v1/reports", { specs: [] })).toBe("true");
    expect(await header("/v1/reports/query?format=csv", { spec: SPEC })).toBe("true");
    const settled = { settled: async () => undefined } as unknown as typeof deps;
    expect(await header("/v1/reports?id=spend-by-day", undefined, settled)).toBeNull();
  });

  test("the schema of its answers is open to everybody, and they keep to it", async () => {
    const { json } = await call("/v1/reports/query-schema.json", { key: null });
    const validate = new Ajv2020({ strict: false }).compile(json());
    const moved = { spec: { ...SPEC, compare: "previous_period" }, rate_mix_volume: true };
    expect((await call("/v1/reports/query", { body: moved })).json()).toHaveProperty(
      "rate_mix_volume.delta_usd",
    );
    for (const body of [{ spec: SPEC }, { specs: [SPEC, SPEC] }, moved]) {
      expect(validate((await call("/v1/reports/query", { body })).json())).toBe(true);
    }
  });

  test("?format=csv answers it as a file of CSV", async () => {
    const { headers, text } = await call("/v1/reports/query?format=csv", { body: { spec: SPEC } });
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const all = await call("/v1/reports/query?format=csv", { body: { spec: SPEC, all_rows: true } });
    expect(all.text).toBe(text);
    expect(text).toBe(
      "model,cost_usd,requests,floor\r\nopus,0.2001,7,true\r\nimg,0.08,1,false\r\nhaiku,0.054,4,true\r\ntotal,0.3341,12,true\r\n",
    );
  });

  test("a file of all rows that is not answered is closed", async () => {
    const open = () =>
      readdirSync("/proc/self/fd").filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).includes("/tallygate-");
        } catch {
          return false;
        }
      });
    const asked = { body: { spec: SPEC, all_rows: true } };
    const refused = { exported: () => Promise.reject(new GatewayError("store_unavailable")) };
    expect((await call("/v1/reports/query?format=csv", { ...asked, deps: refused })).status).toBe(503);
    const leaving = new AbortController();
    const reportWriterThatIsLeft: ReportsDeps["reportWriter"] = {
      ...writer,
      file: async (spec, now, how) => {
        const made = writer.file(spec, now, { ...how, signal: leaving.signal });
        leaving.abort();
        return await made;
      },
    };
    const left = { reportWriter: reportWriterThatIsLeft };
    expect((await call("/v1/reports/query?format=csv", { ...asked, deps: left })).status).toBe(503);
    expect(open()).toEqual([]);
  });

  test.each<[unknown, string]>([
    [{ spec: { ...SPEC, measures: ["requests", "tokens"] } }, "spec.measures[1]: expected one of"],
    [{ spec: { ...SPEC, range: { from: "yesterday", to: null } } }, "spec.range.from: must be a date"],
    [{ spec: { ...SPEC, source: "outcomes" } }, "spec.measures[1]: source outcomes has no measure requests"],
    [{ spec: SPEC, more: 1 }, "body.more: unexpected property"],
    [SPEC, "body.source: unexpected property"],
    [{}, "spec: expected"],
    [{ spec: SPEC, specs: [SPEC] }, "body: has either spec or specs"],
    [{ specs: [] }, "body.specs: expected array length"],
    [{ spec: SPEC, all_rows: true }, "body.all_rows: needs format=csv"],
    [{ spec: SPEC, rate_mix_volume: true }, "body.rate_mix_volume: needs the source requests and compare"],
    [
      { specs: [SPEC, { ...SPEC, measures: ["ok"] }] },
      "specs[1].measures[0]: source requests has no measure ok",
    ],
  ])("a bad spec is 400 with the member and the reason", async (body, message) => {
    const { status, json } = await call("/v1/reports/query", { body });
    expect(status).toBe(400);
    expect(json().error.message).toStartWith(message);
  });

  test("a format that is neither json nor csv is 400", async () => {
    expect((await call("/v1/reports/query?format=xml", { body: { spec: SPEC } })).status).toBe(400);
  });

  test.each(["/v1/reports", "/v1/reports/query"])(
    "a parameter of POST %s that is none is 400, for what was meant would not be heeded",
    async (path) => {
      const body = path.endsWith("query") ? { spec: SPEC } : { specs: [item("a", SPEC)] };
      const message = "query: only format is known; everything else belongs in the body";
      for (const query of ["unknown=1", "range=mtd", "format=json&filter[model]=opus"]) {
        const { status, json } = await call(`${path}?${query}`, { body });
        expect([query, status, json().error.message]).toEqual([query, 400, message]);
      }
      const twice = await call(`${path}?format=json&format=csv`, { body });
      expect([twice.status, twice.json().error.message]).toEqual([400, "format: is given twice"]);
    },
  );

  test("a body over 1 MiB is 413", async () => {
    const body = { spec: { ...SPEC, view: "x".repeat(1024 * 1024) } };
    expect((await call("/v1/reports/query", { body })).status).toBe(413);
  });
});

describe("GET /v1/version", () => {
  test("answers the version of what the caller's reports read", async () => {
    const { status, json } = await call("/v1/version");
    expect([status, json()]).toEqual([200, { version: 7 }]);
    expect(faultsOf(RecordsVersion, json())).toEqual([]);
  });

  test("of a team's manager is the team's", async () => {
    const scope = { team: "alpha", teams: ["alpha"] };
    const deps: Partial<SurfaceDeps> = {
      authorizeReports: async () => ({ actor: "mia", scope, saved: null, cookie: null }),
      recordVersion: async (team) => (team === "alpha" ? 3 : 7),
    };
    expect((await call("/v1/version", { deps })).json()).toEqual({ version: 3 });
  });

  test("is for those who may read reports", async () => {
    expect((await call("/v1/version", { key: null })).status).toBe(401);
    expect((await call("/v1/version", { key: "member" })).status).toBe(403);
  });

  test("is 503 while the database is away", async () => {
    const away = connect("postgres://nobody@127.0.0.1:1/nothing", {
      name: "test",
      max: 1,
      statementTimeoutMs: 1,
    });
    const { status } = await call("/v1/version", { deps: { recordVersion: recordVersion(away) } });
    await away.end({ timeout: 0 });
    expect([status, ERRORS.store_unavailable.retryAfterSeconds]).toEqual([503, expect.any(Number)]);
  });
});

describe("saved reports", () => {
  const saved: NamedReport = {
    id: "ours",
    title: "Ours",
    description: "",
    spec: { ...SPEC, filters: { client: ["cli"] }, range: { from: "2026-11-15", to: "2026-11-15" } },
  };
  const deps: Partial<SurfaceDeps> = {
    savedReports: async (ids) => [saved].filter(({ id }) => ids.includes(id)),
  };
  const ours = async (query: string) => (await call(`/v1/reports?id=ours${query}`, { deps })).json();

  test("are answered by their id, beside built-in ones", async () => {
    const payload = (await ours("&id=spend-by-day")) as ReportPayload;
    expect(payload.reports.map(({ id }) => id)).toEqual(["spend-by-day", "ours"]);
    expect(payload.reports[1]?.result?.total.current).toEqual({ cost_usd: 0.081, requests: 3 });
    // The frame of the two others is the call's, not the saved report's.
    expect(payload.subscription.spec.range).toBe("30d");
  });

  test("what the query gives takes the place of their own range, comparison and filters", async () => {
    const payload = await ours("&range=7d&compare=previous_period&filter[client]=ide&filter[model]=haiku");
    expect(payload.reports[0].result.spec).toMatchObject({
      range: "7d",
      compare: "previous_period",
      filters: { client: ["ide"], model: ["haiku"] },
    });
  });

  test("that are none are 400 by the parameter's name", async () => {
    const { status, json } = await call("/v1/reports?id=theirs", { deps });
    expect([status, json().error.message]).toEqual([
      400,
      expect.stringMatching(/^id: must be the id of a saved report, or one of spend-overview, /),
    ]);
  });

  test("and every built-in one hold to the published schema, as a strict validator reads it", async () => {
    const published = (await call("/v1/reports/schema.json")).json();
    const valid = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(published);
    for (const query of ["", "&compare=previous_period&range=mtd", "&from=2026-11-08"]) {
      const ids = [...CATALOGUE.map(({ id }) => id), "ours"];
      const address = `/v1/reports?${ids.map((id) => `id=${id}`).join("&")}${query}`;
      const payload = (await call(address, { deps })).json();
      expect([valid(payload), valid.errors]).toEqual([true, null]);
      expect(payload.reports.filter(({ result }: { result: unknown }) => result === null)).toEqual([]);
      expect(payload.reports).toHaveLength(ids.length);
    }
  });
});

describe("?format=csv", () => {
  const asCsv = async (path: string, body?: unknown) => {
    const { status, headers, text } = await call(path, { body });
    return [status, headers.get("content-type"), headers.get("content-disposition"), text.split("\r\n")[0]];
  };
  const TYPE = "text/csv; charset=utf-8";

  test("gives one report as a file named for it and its days, on every path", async () => {
    expect(await asCsv("/v1/reports?id=spend-by-day&range=7d&format=csv")).toEqual([
      200,
      TYPE,
      'attachment; filename="spend-by-day-2026-11-15-to-2026-11-21.csv"',
      "day,cost_usd,requests,total_tokens,users,floor",
    ]);
    const range = { from: null, to: "2026-11-15" };
    const specs = [item('a "b"/c', { ...SPEC, range })];
    expect(await asCsv("/v1/reports?format=csv", { specs })).toEqual([
      200,
      TYPE,
      'attachment; filename="a-b-c-to-2026-11-15.csv"',
      "model,cost_usd,requests,floor",
    ]);
    expect((await asCsv("/v1/reports/query?format=csv", { spec: SPEC }))[2]).toBe(
      'attachment; filename="requests-2026-11-15-to-2026-11-21.csv"',
    );
  });

  test.each([
    ["/v1/reports?format=csv", undefined],
    ["/v1/reports?format=csv&id=spend-by-day&id=spend-by-model", undefined],
    ["/v1/reports?format=csv", { specs: [] }],
  ])("of none or several reports is 400 (%s)", async (path, body) => {
    const { status, json } = await call(path, { body });
    expect([status, json().error.message]).toEqual([
      400,
      "format: CSV holds one report, so name one id or send one spec",
    ]);
  });

  test("of a report that cannot be is 400, not an empty file", async () => {
    const bad = { ...SPEC, measures: ["merged_prs"] };
    const { status } = await call("/v1/reports?format=csv", { body: { specs: [item("a", bad)] } });
    expect(status).toBe(400);
  });
});

describe("who may read", () => {
  test.each([
    ["/v1/reports", undefined],
    ["/v1/reports", { specs: [] }],
    ["/v1/reports/query", { spec: SPEC }],
  ])("%s needs a key that may read reports, before anything else is looked at", async (path, body) => {
    expect((await call(path, { key: null, body: body && "{" })).status).toBe(401);
    const refused = await call(path, { key: "other", body: body && "{" });
    expect([refused.status, refused.json().error.type]).toEqual([403, "reports_not_allowed"]);
  });

  test("the schema is open to everybody", async () => {
    expect((await call("/v1/reports/schema.json", { key: null })).status).toBe(200);
  });
});

describe("what has just happened", () => {
  test("a report waits for the calls that have just ended", async () => {
    const order: string[] = [];
    const deps: Partial<SurfaceDeps> = {
      settled: async () => {
        await Bun.sleep(20);
        order.push("settled");
      },
      reportWriter: {
        ...writer,
        answer: (...asked) => {
          order.push("run");
          return writer.answer(...asked);
        },
      },
    };
    await call("/v1/reports/query", { body: { spec: SPEC }, deps });
    expect(order).toEqual(["settled", "run"]);
  });

  test("of reports that follow each other closely the first alone hurries them", async () => {
    const hurried: (boolean | undefined)[] = [];
    let nowMs = 0;
    const app = surface({
      settled: async (hurry) => void hurried.push(hurry),
      clock: { now: () => NOW, monotonicMs: () => nowMs },
    });
    for (const at of [0, 199, 200, 300]) {
      nowMs = at;
      const headers = { authorization: "Bearer manager" };
      await app.handle(new Request("http://localhost/v1/reports?id=spend-by-day", { headers }));
    }
    expect(hurried).toEqual([true, false, true, false]);
  });

  test("but not for ever, and not if they cannot be stored", async () => {
    const never = { settled: () => new Promise<void>(() => undefined) };
    const failing = { settled: () => Promise.reject(new Error("disk")) };
    for (const deps of [never, failing]) {
      expect((await call("/v1/reports/query", { body: { spec: SPEC }, deps })).status).toBe(200);
    }
  });
});

test("when the database is away the answer is 503, without a word about it", async () => {
  const away = writerOf("postgres://nobody@127.0.0.1:1/none");
  const { status, json } = await call("/v1/reports/query", {
    body: { spec: SPEC },
    deps: { reportWriter: away },
  });
  expect([status, json().error]).toEqual([
    503,
    { type: "store_unavailable", message: ERRORS.store_unavailable.public },
  ]);
  await away.close();
});
