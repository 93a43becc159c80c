import { beforeAll, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { newId } from "#shared/ids.ts";
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

test("seats are imported, twice the same, and shown with who uses theirs", async () => {
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
