import { afterAll, beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import type { ReportPayload } from "#shared/report-payload.ts";
import { TALLYGATE } from "../support/checkout.ts";
import { scratch } from "../support/embedded.ts";
import { isFaultRun, longTest } from "../support/fault-run.ts";
import { ADMIN_KEY, type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { inTerminal } from "../support/terminal.ts";
import { storeUnpriced } from "../support/unpriced-records.ts";
import { until } from "../support/until.ts";

const RECORDS = 6_000;
const HALF = 3_000;
const WINDOW = { from: "2026-10-05", to: "2026-10-31" };
const COST = "0.000000000003";

const PRICES = { input_mtok: 1, output_mtok: 1 };
const list = Bun.serve({
  port: 0,
  fetch: () =>
    Response.json([
      { id: "openai", models: [{ id: "gpt-novel", match: { equals: "gpt-novel" }, prices: PRICES }] },
    ]),
});
let place: ReturnType<typeof scratch>;
let gateway: GatewayProcess;
let other: GatewayProcess;
let sql: postgres.Sql;

beforeAll(async () => {
  place = scratch();
  const PRICES_URL = `${list.url}data.json`;
  gateway = await startGateway({ dataDir: `${place.path}/gateway`, env: { PRICES_URL } });
  const { databaseUrl } = gateway;
  other = await startGateway({ dataDir: `${place.path}/other`, databaseUrl });
  sql = connect(gateway.databaseUrl, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  // The gateway makes the months' partitions meanwhile, which no row may be written beside.
  await ensurePartitions(gateway.databaseUrl, new Date());
  await storeUnpriced(sql, RECORDS, WINDOW.from);
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await gateway.kill();
  await other.kill();
  await list.stop(true);
});

type Job = Record<string, unknown> & { id: string; state: string; checked_records: number };
type Kind = "reprice" | "restate";
const job = (id: string, kind: Kind = "reprice") => gateway.admin<Job>("GET", `/prices/${kind}/${id}`);
const audited = async (action: string) =>
  (await gateway.admin<{ data: object[] }>("GET", `/audit?action=${action}`)).data;

/** Starts a job over `WINDOW`, and keeps it from its second half until `go` is called. */
async function halted(kind: Kind = "reprice"): Promise<{ started: Job; go(): Promise<void> }> {
  const go = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`
      select 1 from requests where started_at = ${WINDOW.from}::timestamptz + ${HALF}::integer * interval '1 second'
      for update`;
    locked.resolve();
    await go.promise;
  });
  await locked.promise;
  const started = await gateway.admin<Job>("POST", `/prices/${kind}`, WINDOW);
  await until(async () => (await waiting()).length === 1);
  expect(await job(started.id, kind)).toMatchObject({ checked_records: HALF });
  return {
    started,
    go: async () => {
      go.resolve();
      await holding;
    },
  };
}

/** Statements that wait for a lock: the job's batch, and a change of the job meanwhile. */
const waiting = () => sql`
  select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

const sumsOf = async () => {
  const [sums] = await sql`
    select count(*) filter (where unpriced)::integer as unpriced, count(*) filter (where not unpriced)::integer as priced,
      min(cost_usd)::text as least, max(cost_usd)::text as most
    from requests where started_at < '2026-11-01'`;
  return sums;
};

test("the price list is fetched without being asked, and reaches a gateway that does not fetch it", async () => {
  const fetchedBy = async ({ url }: GatewayProcess) =>
    (await (await fetch(`${url}/readyz`)).json()).price_list.fetched;
  await until(async () => (await fetchedBy(gateway)) !== null);
  await until(async () => (await fetchedBy(other)) !== null);
  const { data } = await other.admin<{ data: object[] }>("GET", "/prices/changes");
  expect(data).toEqual([expect.objectContaining({ state: "new", model: "gpt-novel", after: PRICES })]);
});

test("models without a price are listed with the calls that price them", async () => {
  const NOW = new Date().toISOString();
  await storeUnpriced(sql, 1, NOW);
  const { data } = await gateway.admin<{ data: Record<string, unknown>[] }>("GET", "/prices/unpriced");
  expect(data).toEqual([
    {
      provider: "echo",
      model: "dear-model",
      tier: null,
      requests: 1,
      first_seen: expect.any(String),
      last_seen: expect.any(String),
      reason: expect.stringContaining("No price is known for dear-model of echo"),
      remedy: expect.stringContaining('POST /admin/v1/prices {"provider":"echo","model":"dear-model"'),
    },
  ]);
  const answer = await fetch(`${gateway.url}/v1/reports?id=unpriced-models`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const { reports }: ReportPayload = await answer.json();
  expect(reports[0]?.description).toContain("Prices in the console says why");
  expect(reports[0]?.result?.rows).toMatchObject([
    { groups: ["dear-model"], current: { unpriced_requests: 1, cost_usd: null } },
  ]);
});

test("a price counts at once, also for the gateway that it was not entered through", async () => {
  const price = { model: "dear-model", effective_from: "2026-01-01", input: "0.000001", output: "0.000002" };
  await gateway.admin("POST", "/prices", price);
  const minute = { from: WINDOW.from, to: `${WINDOW.from}T00:01:00Z`, dry_run: true };
  expect(await other.admin("POST", "/prices/reprice", minute)).toMatchObject({ repriced_records: 60 });
});

test("the command line shows the progress of a dry run, which changes nothing", async () => {
  const command = [...TALLYGATE, "reprice"];
  const asked = ["--from", WINDOW.from, "--to", WINDOW.to, "--dry-run", "--url", gateway.url];
  const run = Bun.spawn([...command, ...asked], {
    env: { ...process.env, ADMIN_KEY },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, notes] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  expect(notes).toContain("tallygate: 6,000 of 6,000 records checked, 6,000 priced\n");
  expect(out).toBe(
    "6,000 of 6,000 unpriced records would get a price.\n" +
      "Cost of the window: 0 USD before, 0.000000018 USD then.\n",
  );
  const [left] = await sql`select count(*)::integer as unpriced from requests where unpriced`;
  expect(left).toEqual({ unpriced: RECORDS + 1 });
});

test("a job that is cancelled ends where it is, and what it has priced stays priced", async () => {
  const { started, go } = await halted();
  const cancelling = gateway.admin<Job>("POST", `/prices/reprice/${started.id}/cancel`);
  await until(async () => (await waiting()).length === 2);
  await go();
  const cancelled = await cancelling;
  const priced = cancelled.checked_records;
  expect(priced).toBeLessThan(RECORDS);
  expect(cancelled).toMatchObject({
    state: "cancelled",
    repriced_records: priced,
    finished_at: expect.any(String),
  });
  const again = await fetch(`${gateway.url}/admin/v1/prices/reprice/${started.id}/cancel`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  expect(again.status).toBe(422);
  expect(await audited("repricing.cancelled")).toEqual([
    expect.objectContaining({ after: expect.objectContaining({ new_cost_usd: cancelled["new_cost_usd"] }) }),
  ]);
  // A round of both gateways later, nothing has gone on.
  await until(
    async () => (await sql`select 1 from reprice_jobs where leased_until is not null`).length === 0,
  );
  expect(await job(started.id)).toEqual(cancelled);
  expect(await sumsOf()).toEqual({ unpriced: RECORDS - priced, priced, least: COST, most: COST });
  await sql`update requests set unpriced = true, cost_usd = null, token_cost_usd = null, price = null`;
});

test("a job is done only together with its entry in the audit log", async () => {
  const go = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`lock table audit_entries in share row exclusive mode`;
    locked.resolve();
    await go.promise;
  });
  await locked.promise;
  const { id: started } = await gateway.admin<Job>("POST", "/prices/reprice", WINDOW);
  await until(async () => (await waiting()).length > 0);
  expect(await job(started)).toMatchObject({ state: "running", checked_records: RECORDS });
  go.resolve();
  await holding;
  await until(async () => (await job(started)).state === "done");
  expect(await audited("prices.repriced")).toHaveLength(1);
  await sql`update requests set unpriced = true, cost_usd = null, token_cost_usd = null, price = null`;
});

/** A restatement is killed every time, by the same means. */
const KILLED = isFaultRun ? " goes on after both were killed in its midst," : "";

test(`a job of two gateways${KILLED} is followed meanwhile, and adds up exactly`, async () => {
  const { started, go } = await halted();
  expect(started).toMatchObject({ state: "running", unpriced_records: RECORDS, checked_records: 0 });
  const follower = inTerminal([...TALLYGATE, "reprice", "--job", "--url", gateway.url], { ADMIN_KEY });
  await until(() => follower.text().includes(" 50 %  3,000 of 6,000 records checked, 3,000 priced"));

  if (isFaultRun) await Promise.all([gateway.kill(), other.kill()]);
  await go();
  if (isFaultRun) await Promise.all([gateway.start(), other.start()]);
  await until(async () => (await job(started.id)).state === "done");

  expect(await job(started.id)).toMatchObject({
    checked_records: RECORDS,
    repriced_records: RECORDS,
    old_cost_usd: "0",
    new_cost_usd: "0.000000018",
    finished_at: expect.any(String),
    failure: null,
  });
  expect(await sumsOf()).toEqual({ unpriced: 0, priced: RECORDS, least: COST, most: COST });
  const entry = expect.objectContaining({ after: { cost_usd: "0.000000018", repriced_records: RECORDS } });
  // The other one is of the test before.
  expect(await audited("prices.repriced")).toEqual([entry, entry]);
  expect(await follower.exited).toBe(0);
  expect(follower.text()).toContain("100 %  6,000 of 6,000 records checked, 6,000 priced\r\n");
  expect(follower.text()).toContain("6,000 of 6,000 unpriced records got a price.\r\n");
});

const run = async (...words: string[]) => {
  const child = Bun.spawn([...TALLYGATE, ...words, "--url", gateway.url], {
    env: { ...process.env, ADMIN_KEY },
    stdout: "pipe",
    stderr: "pipe",
  });
  return await new Response(child.stdout).text();
};

test("a restatement continues after kill -9 halfway; sums and versions agree with the database's own", async () => {
  const price = { model: "dear-model", effective_from: "2026-10-05", input: "0.000007", output: "0.000011" };
  await gateway.admin("POST", "/prices", price);
  expect(
    await run("restate", "--from", WINDOW.from, "--to", WINDOW.to, "--model", "dear-model", "--dry-run"),
  ).toMatch(
    /^6,000 of 6,000 records would change\.\nCost of the window: 0\.000000018 USD before, 0\.000000108 USD then\.\n[\s\S]*2026-10 {2}\(no team\) {2}dear-model {4}6,000/,
  );
  const { started, go } = await halted("restate");
  await Promise.all([gateway.kill(), other.kill()]);
  await go();
  await gateway.start();
  await until(async () => (await job(started.id, "restate")).state === "done");

  const [reference] = await sql`
    select trim_scale(sum(input_tokens * 0.000000000007 + output_tokens * 0.000000000011))::text as "new",
      trim_scale(sum(cost_usd))::text as stored, (select trim_scale(sum(cost_usd))::text from record_versions where reason = 'restated') as old,
      (select count(*)::integer from record_versions where reason = 'restated') as versions
    from requests where started_at < '2026-11-01'`;
  const sums = { new: "0.000000108", stored: "0.000000108", old: "0.000000018", versions: RECORDS };
  expect(reference).toEqual(sums);
  expect(await job(started.id, "restate")).toMatchObject({
    ...{ records: RECORDS, checked_records: RECORDS, restated_records: RECORDS },
    ...{ old_cost_usd: sums.old, new_cost_usd: sums.new, difference_usd: "0.00000009" },
    differences: [{ month: "2026-10", records: RECORDS, difference_usd: "0.00000009" }],
  });
});

test("the command line prints a report with the costs that were known at an instant", async () => {
  const report = async (...more: string[]) =>
    (await run("report", "spend-by-model", "--from", WINDOW.from, "--to", "2026-10-31", ...more)).split("\n");
  const [before] = await sql<
    { at: Date }[]
  >`select min(until_at) - interval '1 ms' as at from record_versions where reason = 'restated'`;
  const asOf = ["--as-of", before?.at.toISOString() ?? ""];
  const csv = async (...more: string[]) =>
    (await report("--csv", ...more)).filter((line) => line.startsWith("dear-model"));
  expect([await csv(), await csv(...asOf)]).toEqual([
    [expect.stringContaining("dear-model,1.08e-7,")],
    [expect.stringContaining("dear-model,1.8e-8,")],
  ]);
  expect((await report(...asOf)).join("\n")).toMatch(/dear-model +0\.000000018/);
});

longTest("clients/tallygate (alerts), cli/apply, reports/forecast")(
  "the command line sets an alert, and prints the forecast and unusual days",
  async () => {
    const to = "to={kind: slack, url: 'https://hooks.example.com/x'}";
    expect(await run("alerts", "set", "money", "on=[threshold]", to)).toContain("+ alerts money");
    expect(await run("alerts")).toMatch(/money +threshold +slack/);
    expect(await run("forecast", "--period", "day")).toContain("spent usd: ");
    expect(await run("anomalies", "--days", "9")).toMatch(/^from: \d{4}-/);
  },
);

longTest("admin/restate (a closed month), pages/settings (a month is closed and opened)")(
  "the command line closes a month, lists it, and opens it again",
  async () => {
    expect(await run("periods", "list")).toBe("No month was closed yet.\n");
    const usd = "0.000000108";
    expect(await run("periods", "close", "2026-10")).toBe(
      `2026-10 is closed, with 6,000 records and ${usd} USD.\n`,
    );
    expect(await run("periods", "list")).toMatch(
      /\n2026-10 {2}closed {4}6,000 +0\.000000108 +0 +0 {2}admin key\n$/,
    );
    expect(await run("periods", "reopen", "2026-10")).toBe("2026-10 is open again.\n");
  },
);
