import { beforeAll, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { focusSpread } from "#gateway/export/focus-rows.ts";
import { newId } from "#shared/ids.ts";
import { seed } from "#test/reports/world.ts";
import { TALLYGATE } from "#test/support/checkout.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY, fault, type World, world } from "../admin/world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});

const MONTH = "2026-11";
const upload = (text: string) =>
  it.raw("/seats/import", { method: "POST", headers: { authorization: `Bearer ${ADMIN_KEY}` }, body: text });

const CSV = `person,vendor,plan,monthly_usd,effective_from,effective_to
Ada@example.com,claude,Max,100,2026-10-01,
bob@example.com,claude,Team,30,2026-11-16,
cy@example.com,chatgpt,Team,25,2026-01-01,2026-11-11
cy@example.com,other,Search,9.99,2026-01-01,
`;

async function storeCall(owner: string, client: string, usd: string | null, at: string): Promise<void> {
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const key = newId();
  await sql`insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, key_id,
      owner, client, tags, provider, model, usage_source, cost_usd, unpriced, partial)
    values (${newId()}, ${at}, 'chat', ${usd === null ? "api" : "subscription"}, 'ok', false, 1, 'r', 'model', ${key}, ${owner},
      ${client}, '{}', 'echo', 'claude-opus-4-6', 'provider', ${usd ?? "7"}, false, false)`;
  await sql.end({ timeout: 1 });
}

test("seats are imported, twice the same, and shown with who uses their seat", async () => {
  expect((await upload(CSV)).body).toEqual({ added: 4, changed: 0 });
  expect((await upload(CSV.replace(",30,", ",60,"))).body).toEqual({ added: 0, changed: 4 });
  await storeCall("ada@example.com", "claude-code", "1.5", "2026-11-03T10:00:00Z");
  await storeCall("ADA@example.com", "claude-code", "0.25", "2026-11-04T10:00:00Z");
  // Another month, another vendor's agent, and a call that is paid by use.
  await storeCall("ada@example.com", "claude-code", "9", "2026-10-04T10:00:00Z");
  await storeCall("bob@example.com", "codex", "9", "2026-11-20T10:00:00Z");
  await storeCall("bob@example.com", "claude-code", null, "2026-11-20T10:00:00Z");

  const { body } = await it.call("GET", `/seats/use?month=${MONTH}`);
  expect(body.seats).toEqual([
    {
      ...{ person: "ada@example.com", vendor: "claude", plan: "Max", monthly_usd: "100", cost_usd: "100" },
      ...{ calls: 2, value_usd: "1.75", last_used_at: "2026-11-04T10:00:00.000Z" },
    },
    expect.objectContaining({ person: "bob@example.com", cost_usd: "30", calls: 0, last_used_at: null }),
    expect.objectContaining({ vendor: "chatgpt", calls: 0, cost_usd: "8.333333333333333333333333" }),
    expect.objectContaining({ vendor: "other", calls: null, value_usd: null, cost_usd: "9.99" }),
  ]);
  expect(body.vendors).toEqual([
    { vendor: "claude", seats: 2, used: 1, cost_usd: "130", unused_usd: "30", value_usd: "1.75" },
    expect.objectContaining({ vendor: "chatgpt", seats: 1, used: 0 }),
    { vendor: "other", seats: 1, used: null, cost_usd: "9.99", unused_usd: null, value_usd: null },
  ]);
  const own = await it.call("GET", `/seats/use?month=${MONTH}&person=Cy@example.com`);
  expect(own.body.seats.map((seat: { vendor: string }) => seat.vendor)).toEqual(["chatgpt", "other"]);
  const log = await it.call("GET", "/audit?action=seat.imported&limit=1");
  expect(log.body.data[0].after).toEqual({ added: 0, changed: 4 });
});

test("who changes the plan, or has two, uses one seat at a time, and no use counts twice", async () => {
  await upload(`person,vendor,plan,monthly_usd,effective_from,effective_to
eve@example.com,claude,Pro,20,2026-08-01,2026-08-16
eve@example.com,claude,Max,100,2026-08-16,
eve@example.com,claude,Team,30,2026-08-10,2026-08-12
`);
  for (const [day, usd] of [
    ["09", "1"],
    ["11", "2"],
    ["12", "4"],
    ["16", "8"],
    ["20", "16"],
  ])
    await storeCall("eve@example.com", "claude-code", usd ?? null, `2026-08-${day}T00:00:00Z`);
  const { seats, vendors } = (await it.call("GET", "/seats/use?month=2026-08&person=eve@example.com")).body;
  type Seat = Record<"plan" | "value_usd" | "last_used_at", string> & { calls: number };
  expect(seats.map(({ plan, calls, value_usd }: Seat) => [plan, calls, value_usd])).toEqual([
    ["Max", 2, "24"],
    ["Pro", 2, "5"],
    ["Team", 1, "2"],
  ]);
  expect(vendors).toMatchObject([{ seats: 3, used: 3, value_usd: "31", unused_usd: "0" }]);
});

test("a file that is wrong is refused by row, and nothing of it is kept", async () => {
  const before = (await it.call("GET", "/seats")).body;
  expect(await fault(upload(CSV.replace("Team,25", "Team,much")))).toStartWith(
    "400 Row 4, monthly_usd: Expected a decimal",
  );
  expect(await fault(upload("person,vendor\na@b.c,claude"))).toStartWith("400 Row 2, monthly_usd: Expected");
  expect(await fault(it.call("GET", "/seats/use?month=2026-13"))).toStartWith("400 month: Expected a month");
  expect((await it.call("GET", "/seats")).body).toEqual(before);
});

test("commitments and credits show what they covered and what is left", async () => {
  const made = await it.call("POST", "/commitments", {
    ...{
      name: "opus",
      kind: "credit",
      provider: "echo",
      models: ["claude-opus-*"],
      amount_usd: "5",
      worth_usd: "10",
    },
    ...{ effective_from: "2026-11-01", effective_to: "2026-12-01" },
  });
  expect(made.status).toBe(201);
  await it.call("POST", "/commitments", {
    ...{ name: "others", kind: "commitment", provider: "echo", models: ["gpt-*"], amount_usd: "100" },
    ...{ effective_from: "2026-11-01", effective_to: "2026-12-01" },
  });
  const [others, opus] = (await it.call("GET", "/commitments/use")).body.data;
  expect(opus).toMatchObject({ name: "opus", covered_usd: "7", left_usd: "3", share: 0.7 });
  expect(others).toMatchObject({ name: "others", covered_usd: "0", left_usd: null, share: 0 });
  const wrong = { name: "x", kind: "credit", provider: "echo", amount_usd: "1" };
  const days = { effective_from: "2026-11-02", effective_to: "2026-11-02" };
  expect(await fault(it.call("POST", "/commitments", { ...wrong, ...days }))).toBe(
    "400 /effective_to: Expected a time after effective_from.",
  );
  expect((await it.call("DELETE", `/commitments/${made.body.id}`)).status).toBe(204);
});

test("of several credits the one that ends first is used first, and each dollar counts once", async () => {
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const call = { provider: "echo", at: "2026-09-01T10:00:00Z" };
  await seed(sql, "default", {
    requests: [
      { ...call, model: "credited", cost: "6" },
      { ...call, model: "credited", at: "2026-09-02T10:00:00Z", cost: "5" },
      { ...call, model: "credited-too", at: "2026-09-02T11:00:00Z", cost: "3" },
      // Half of the day is before the throughput is paid for; the other half has it twice.
      { ...call, model: "provisioned", at: "2026-09-03T11:00:00Z", cost: "7" },
      { ...call, model: "provisioned", at: "2026-09-03T13:00:00Z", cost: "4" },
    ],
  });
  await sql.end({ timeout: 1 });
  const days = { effective_from: "2026-09-01", effective_to: "2026-09-20" };
  const noon = { ...days, effective_from: "2026-09-03T12:00:00Z" };
  const later = { ...days, effective_to: "2026-10-01" };
  const made = [
    { ...later, name: "later", kind: "credit", models: ["credited*"], amount_usd: "10" },
    { ...days, name: "sooner", kind: "credit", models: ["credited*"], amount_usd: "5", worth_usd: "10" },
    { ...days, name: "other use", kind: "credit", models: ["provisioned"], amount_usd: "1" },
    ...["1.5", "0.25"].map((amount_usd) => ({
      ...{
        ...noon,
        name: `throughput ${amount_usd}`,
        kind: "commitment",
        models: ["provisioned"],
        amount_usd,
      },
    })),
  ];
  for (const body of made)
    expect((await it.call("POST", "/commitments", { provider: "echo", ...body })).status).toBe(201);
  const { data } = (await it.call("GET", "/commitments/use")).body;
  const left = (name: string) => {
    const { covered_usd, left_usd } = data.find((row: { name: string }) => row.name === name);
    return [covered_usd, left_usd];
  };
  expect(made.map(({ name }) => left(name))).toEqual([
    ["4", "6"],
    ["10", "0"],
    ["1", "0"],
    ["4", null],
    ["4", null],
  ]);
  const spread = await focusSpread(it.database, {
    fromMs: Date.parse("2026-09-02"),
    toMs: Date.parse("2026-09-04"),
  });
  const of = (name: string) => Number(spread.paid.find(({ model }) => model === name)?.["factor"]);
  const last = spread.paid.filter(({ day }) => day === "2026-09-02");
  // Of 8 dollars of that day, 4 are covered at half their price, and 4 at theirs.
  expect(last.map(({ factor }) => Number(factor))).toEqual([0.75, 0.75]);
  // 1.75 is paid for 4 of the 11 dollars; a credit covers one of the others at its price.
  expect(of("provisioned") * 11).toBeCloseTo(7 + 1.75, 12);
});

test("a commitment costs a month what is paid for it, whatever comes later", async () => {
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const use = (at: string, cost: string) =>
    seed(sql, "default", { requests: [{ provider: "echo", model: "monthly", at, cost }] });
  const term = { effective_from: "2026-01-01", effective_to: "2026-04-11", models: ["monthly"] };
  const body = { name: "monthly", kind: "commitment", provider: "echo", amount_usd: "100", ...term };
  expect((await it.call("POST", "/commitments", body)).status).toBe(201);
  const monthly = async () => {
    const spread = await focusSpread(it.database, { fromMs: 0, toMs: Date.parse("2026-11-01") });
    const of = spread.paid.filter(({ model }) => model === "monthly");
    return Object.fromEntries(of.map(({ day, factor }) => [day, Number(factor)]));
  };
  await use("2026-01-10T00:00:00Z", "10");
  await use("2026-01-20T00:00:00Z", "52");
  // 100 days cost 100 dollars: January 31.
  expect(await monthly()).toEqual({ "2026-01-10": 0.5, "2026-01-20": 0.5 });
  // February had no use: March has both.
  await use("2026-03-10T00:00:00Z", "59");
  await use("2026-04-10T00:00:00Z", "1");
  expect(await monthly()).toEqual({
    "2026-01-10": 0.5,
    "2026-01-20": 0.5,
    "2026-03-10": 1,
    "2026-04-10": 10,
  });
  // The months whose records are dropped have taken their part with them.
  await sql`delete from requests where model = 'monthly' and started_at < '2026-03-01'`;
  await sql`insert into rollup_state (org_id, rolled_to, raw_from) values ('default', '2026-03-01', '2026-03-01')`;
  expect(await monthly()).toEqual({ "2026-03-10": expect.closeTo(31 / 59, 12), "2026-04-10": 10 });
  await sql`delete from rollup_state`;
  await sql.end({ timeout: 1 });
});

test("where one commitment follows another within a day, all of the day's use is covered", async () => {
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const call = { provider: "echo", model: "renewed" };
  await seed(sql, "default", {
    requests: ["11", "13"].map((hour) => ({ ...call, at: `2026-06-10T${hour}:00:00Z`, cost: "6" })),
  });
  await sql.end({ timeout: 1 });
  const days = ["2026-06-01T00:00:00Z", "2026-06-10T12:00:00Z", "2026-06-20T00:00:00Z"];
  for (const [at, amount_usd] of ["1", "2"].entries()) {
    const term = { effective_from: days[at], effective_to: days[at + 1], models: ["renewed"] };
    const body = { name: `renewed ${at}`, kind: "commitment", provider: "echo", amount_usd, ...term };
    expect((await it.call("POST", "/commitments", body)).status).toBe(201);
  }
  const spread = await focusSpread(it.database, { fromMs: 0, toMs: Date.parse("2026-11-01") });
  const of = spread.paid.filter(({ model }) => model === "renewed");
  expect(of.map(({ day, factor }) => [day, Number(factor)])).toEqual([["2026-06-10", 3 / 12]]);
});

test("the command line lists, sets, imports and removes what money depends on, as a settings file does", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => it.app.handle(request) });
  const place = scratch();
  const run = async (...words: string[]) => {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: place.path,
      ADMIN_KEY,
      CREDENTIAL: "sk-ant-admin-x",
    };
    const child = Bun.spawn([...TALLYGATE, ...words, "--url", `http://127.0.0.1:${server.port}`], {
      ...{ env, stdout: "pipe", stderr: "pipe" },
    });
    const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, said: said.join("") };
  };
  const day = "effective_from=2026-11-01";
  const seat = ["seats", "set", "person=Dee@example.com", "vendor=claude", "plan=Max", day];
  expect(await run(...seat, "monthly_usd=100")).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^\+ seats[\s\S]*1 created/),
  });
  expect((await run(...seat, "monthly_usd=200.50")).said).toMatch(
    /monthly_usd: 100 → 200\.50\n[\s\S]*1 changed/,
  );
  expect((await run("seats", "list")).said).toMatch(
    /\n\S{36} +dee@example\.com +claude +Max +200\.5\d* +2026-11-01/,
  );
  expect((await run("seats", "use", "--month", "2026-11", "--person", "dee@example.com")).said).toMatch(
    /month: 2026-11\n\nseats\nperson [\s\S]*vendors\n/,
  );

  const csv = `${place.path}/commitments.csv`;
  const rows = (usd: string) =>
    `name,kind,provider,models,amount_usd,effective_from,effective_to\nreserved,commitment,echo,"[claude-*, o3]",${usd},2026-11-01,2026-12-01\n`;
  await Bun.write(csv, rows("much"));
  const wrong = await run("commitments", "import", csv);
  expect(wrong).toMatchObject({
    code: 1,
    said: expect.stringMatching(/commitments\.csv:2 commitments\.0\.amount_usd: Expected/),
  });
  await Bun.write(csv, rows("7.25"));
  expect((await run("commitments", "import", csv)).said).toContain("1 created");
  expect((await run("commitments", "import", csv)).said).toContain("1 as declared");
  const { data } = (await it.call("GET", "/commitments")).body;
  expect(data[0]).toMatchObject({ name: "reserved", models: ["claude-*", "o3"], amount_usd: "7.25" });
  expect((await run("commitments", "remove", data[0].id)).said).toBe("Deleted.\n");
  expect((await run("commitments", "use")).said).toMatch(/\n\S+ +others +commitment/);

  const account = ["vendor-accounts", "set", "acme", "vendor=anthropic", "rates={EUR: '1.08'}"];
  expect((await run(...account, `credential=$\{CREDENTIAL}`)).said).toContain(
    "credential: (from CREDENTIAL)",
  );
  expect((await it.call("GET", "/vendor-accounts/acme")).body).toMatchObject({
    rates: { EUR: "1.08" },
    has_credential: true,
  });
  const budget = [
    "budgets",
    "set",
    "company",
    "on={kind: organisation}",
    "amount_usd=500",
    "thresholds=[90]",
  ];
  expect((await run(...budget)).said).toContain("+ budgets company");
  expect((await run("budgets")).said).toMatch(/company +organisation +hard +\$[\d.]+ +\$500 a month/);
  expect((await run("budgets", "remove", "company")).said).toBe("Deleted.\n");
  expect((await run("discounts", "set", "provider=echo", "percent=12.5", day)).said).toContain("1 created");
  expect((await run("prices", "set", "model=m", "input=0.20", day, "--dry-run")).said).toContain(
    "1 to create",
  );
  expect((await run("prices", "refresh")).said).toContain("PRICES_URL is not set");
  expect((await run("prices", "changes")).said).toBe(
    "fetched at: none\nfetches: false\nmissing: none\n\nNone.\n",
  );
  expect((await run("statement", "2026-11", "--format", "csv")).said).toMatch(
    /^team,requests,[\s\S]*\ntotal,/,
  );
  expect((await run("statement", "2026-11", "--by", "cost_center")).said).toMatch(
    /^month: 2026-11\nby: cost_center/,
  );
  expect((await run("export-destination", "show")).said).toContain("(404)");
  expect((await run("seats", "set", "monthly_usd")).said).toContain("Expected member=value.");
  await server.stop(true);
  place.remove();
});
