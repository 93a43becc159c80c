import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { scratch } from "../support/embedded.ts";
import { ADMIN_KEY, type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { until } from "../support/until.ts";

const RECORDS = 6_000;
const WINDOW = { from: "2026-10-01", to: "2026-10-31" };
const COST = "0.000000000003";

let place: ReturnType<typeof scratch>;
let gateway: GatewayProcess;
let sql: postgres.Sql;

beforeAll(async () => {
  place = scratch();
  gateway = await startGateway({ dataDir: `${place.path}/gateway` });
  sql = connect(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  // The gateway makes the months' partitions meanwhile, which no row may be written beside.
  await ensurePartitions(gateway.databaseUrl, new Date());
  await unpriced(RECORDS, "2026-10-05T00:00:00Z");
});
/** Calls of a model without a price, a second apart. */
const unpriced = (records: number, from: string) => sql`
  insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, provider,
    model, key_id, client, tags, usage_source, uncached_input_tokens, input_tokens, output_tokens, unpriced, partial)
  select gen_random_uuid(), ${from}::timestamptz + n * interval '1 second', 'chat.completions', 'api', 'ok', false, 1,
    '(direct)', 'direct', 'echo', 'dear-model', gen_random_uuid(), 'test', '{}', 'provider', 1, 1, 1, true, false
  from generate_series(0, ${records}::integer - 1) as n`;

afterAll(async () => {
  await sql.end({ timeout: 1 });
  await gateway.kill();
});

type Job = Record<string, unknown> & { id: string; state: string; checked_records: number };
const job = (id: string) => gateway.admin<Job>("GET", `/prices/reprice/${id}`);

test("models without a price are listed with the calls that price them", async () => {
  const NOW = new Date().toISOString();
  await unpriced(1, NOW);
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
});

test("a price counts at once, also at a gateway that it was not entered through", async () => {
  const { databaseUrl } = gateway;
  const other = await startGateway({ dataDir: `${place.path}/other`, databaseUrl });
  const price = { model: "dear-model", effective_from: "2026-01-01", input: "0.000001", output: "0.000002" };
  await gateway.admin("POST", "/prices", price);
  const minute = { from: "2026-10-05", to: "2026-10-05T00:01:00Z", dry_run: true };
  const answer = await other.admin("POST", "/prices/reprice", minute);
  await other.kill();
  expect(answer).toMatchObject({ repriced_records: 60 });
});

test("the command line shows the progress of a dry run, which changes nothing", async () => {
  const command = [process.execPath, join(import.meta.dir, "../../gateway/cli/tallygate.ts"), "reprice"];
  const asked = ["--from", WINDOW.from, "--to", WINDOW.to, "--dry-run", "--url", gateway.url];
  const run = Bun.spawn([...command, ...asked], {
    env: { ...process.env, ADMIN_KEY },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, notes] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  expect(notes).toContain(`${RECORDS} of ${RECORDS} records checked, ${RECORDS} priced`);
  expect(out).toBe(
    `${RECORDS} of ${RECORDS} unpriced records would get a price.\n` +
      "Cost of the window: 0 USD before, 0.000000018 USD then.\n",
  );
  const [left] = await sql`select count(*)::integer as unpriced from requests where unpriced`;
  expect(left).toEqual({ unpriced: RECORDS + 1 });
});

test("many records are a job, which goes on after its gateway was killed, and adds up exactly", async () => {
  const answer = await fetch(`${gateway.url}/admin/v1/prices/reprice`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(WINDOW),
  });
  expect(answer.status).toBe(202);
  const started = (await answer.json()) as Job;
  expect(answer.headers.get("location")).toBe(`/admin/v1/prices/reprice/${started.id}`);
  expect(started).toMatchObject({
    state: "running",
    unpriced_records: RECORDS,
    checked_records: 0,
    old_cost_usd: "0",
  });

  await until(async () => (await job(started.id)).checked_records > 0);
  await gateway.kill();
  const { databaseUrl } = gateway;
  gateway = await startGateway({ dataDir: `${place.path}/gateway`, databaseUrl });
  await until(async () => (await job(started.id)).state === "done");

  expect(await job(started.id)).toMatchObject({
    checked_records: RECORDS,
    repriced_records: RECORDS,
    old_cost_usd: "0",
    new_cost_usd: "0.000000018",
    finished_at: expect.any(String),
    failure: null,
  });
  const [sums] = await sql`
    select count(*)::integer as records, min(cost_usd)::text as least, max(cost_usd)::text as most
    from requests where not unpriced`;
  expect(sums).toMatchObject({ records: RECORDS, least: COST, most: COST });
  const { data } = await gateway.admin<{ data: object[] }>("GET", "/audit?limit=1");
  expect(data[0]).toMatchObject({
    action: "prices.repriced",
    after: { cost_usd: "0.000000018", repriced_records: RECORDS },
  });
});
