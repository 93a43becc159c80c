import { afterAll, beforeAll, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { startToolGateway, type ToolGateway } from "#test/support/tool-server/gateway.ts";
import { until } from "#test/support/until.ts";

// A key's limits, on calls of tools and of models together.

let it: ToolGateway;
beforeAll(async () => {
  it = await startToolGateway();
});
afterAll(() => it.close());

const keyWith = async (limits: object) =>
  (await it.admin<{ secret: string }>("POST", "/keys", { name: newId(), limits })).secret;

type Sent = {
  key: string;
  label: string;
  path?: string;
  tool?: string;
  session?: string;
  id?: number;
  tags?: string;
};

function send(
  { key, label, path = "/mcp", tool = "old__echo", session, id = 1, tags }: Sent,
  signal?: AbortSignal,
) {
  const params = { name: tool, arguments: tool.endsWith("echo") ? { words: "x" } : {} };
  return fetch(it.url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      "x-gateway-key": key,
      "x-session-id": label,
      ...(session && { "mcp-session-id": session }),
      ...(tags && { "x-tags": tags }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
    ...(signal && { signal }),
  });
}

/** The JSON-RPC response, whichever form the answer has. */
async function responseOf(answer: Response) {
  const text = await answer.text();
  const [, event] = /^data: (\{.*\})$/m.exec(text) ?? [];
  return JSON.parse(event ?? text);
}

async function sessionAt(path: string, key: string): Promise<string> {
  const answer = await fetch(it.url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "x-gateway-key": key,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    }),
  });
  await answer.text();
  return answer.headers.get("mcp-session-id") ?? "";
}

const chat = (key: string) =>
  fetch(`${it.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: '{"model":"echo","messages":[{"role":"user","content":"Hello"}],"max_tokens":8}',
  });

test("calls of tools and of models together are not more than the key's requests per minute", async () => {
  const key = await keyWith({ requests_per_minute: 3 });
  const session = await sessionAt("/mcp/old", key);
  const relayed = { key, label: "rate", path: "/mcp/old", tool: "echo", session };
  expect((await responseOf(await send({ key, label: "rate" }))).result.content).toBeDefined();
  expect((await responseOf(await send(relayed))).result.content).toBeDefined();
  expect((await chat(key)).status).toBe(200);
  it.servers.old.seen.length = 0;

  const refused = await send(relayed);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await responseOf(refused)).error).toEqual({
    code: -32600,
    message: "The key has reached its limit of requests per minute.",
    data: { type: "rate_limit_error" },
  });
  const joined = await send({ key, label: "rate" });
  expect((await responseOf(joined)).error).toEqual({
    code: -32600,
    message: "The key has reached its limit of requests per minute.",
    data: { type: "rate_limit_error", retry_after_seconds: expect.any(Number) },
  });
  expect((await chat(key)).status).toBe(429);
  expect(it.servers.old.seen).toEqual([]);
  expect(await it.calls("rate", 4)).toMatchObject([
    { status: "ok", error_code: null },
    { status: "ok", error_code: null },
    ...Array(2).fill({ status: "denied", error_code: "rate_limited", cost_usd: "0" }),
  ]);
});

test("a tool that works takes one of the key's calls at once, until it has ended", async () => {
  const key = await keyWith({ concurrency: 1 });
  const leaving = new AbortController();
  const before = it.servers.old.seen.length;
  const waits = send({ key, label: "at-once", tool: "old__wait", id: 9 }, leaving.signal).then((answer) =>
    answer.text(),
  );
  await until(() => it.servers.old.seen.slice(before).some(({ body }) => body.includes('"wait"')));
  expect((await responseOf(await send({ key, label: "at-once" }))).error.message).toBe(
    "The key has reached its limit of concurrent calls.",
  );
  expect((await chat(key)).status).toBe(429);
  leaving.abort();
  await expect(waits).rejects.toThrow();
  await it.calls("at-once", 2);
  await until(async () => (await chat(key)).status === 200);
  expect((await responseOf(await send({ key, label: "at-once" }))).result.content).toBeDefined();
  const held = await it.sql`select 1 from limit_holds where not ended`;
  expect(held.length).toBe(0);
});

test("what tools cost is taken from the key's budget, and is reserved before the server is asked", async () => {
  // One call of this tool costs 0.002 USD.
  const key = await keyWith({ budget_usd: "0.005" });
  const paid = { key, label: "paid", tool: "old__test_simple_text" };
  const together = await Promise.all(
    [1, 2, 3].map(async (id) => await responseOf(await send({ ...paid, id }))),
  );
  expect(together.filter(({ result }) => result)).toHaveLength(2);
  // The third waits for the others' reservations, or finds too little left.
  expect(together.find(({ error }) => error).error.data.type).toMatch(/^(?:rate_limit|billing)_error$/);
  await it.calls("paid", 3);
  await until(async () => (await it.sql`select 1 from limit_holds`).length === 0);
  const before = it.servers.old.seen.length;
  const last = await responseOf(await send(paid));
  expect(last.error.data.type).toBe("billing_error");
  expect(last.error.message).toContain("has 0.001 USD left, which does not cover what this call may cost.");
  expect(it.servers.old.seen.slice(before)).toEqual([]);
  // A cheaper tool still fits into the rest.
  expect((await responseOf(await send({ key, label: "paid" }))).result.content).toBeDefined();
  await it.calls("paid", 5);
  const [spent] = await it.sql`
    select s.usd::text as usd from key_spend s join tool_calls c on c.key_id = s.key_id where c.session = 'paid' limit 1`;
  expect(spent?.["usd"]).toBe("0.0040001");
});

test("calls of tools count in the budgets of their tags, and are refused by name once these are used up", async () => {
  const key = await keyWith({});
  const budget = { on: { kind: "tag", id: "crawl" }, amount_usd: "0.003" };
  await it.admin("PUT", "/budgets/crawling", budget);
  const call = { key, label: "tagged", tool: "old__test_simple_text" };
  expect((await responseOf(await send({ ...call, tags: "a,crawl" }))).result.content).toBeDefined();
  await it.calls("tagged", 1);
  const { error } = await responseOf(await send({ ...call, tags: "crawl" }));
  expect([error.data.type, error.message]).toEqual([
    "billing_error",
    expect.stringContaining('The budget of the tag "crawl", named "crawling",'),
  ]);
  expect((await responseOf(await send({ ...call, tags: "a" }))).result.content).toBeDefined();
  await it.calls("tagged", 3);
  const { data } = await it.admin<{ data: object[] }>("GET", "/budgets");
  expect(data).toContainEqual(expect.objectContaining({ name: "crawling", used_usd: "0.002" }));
});

test("a key whose budget is used up calls no tools", async () => {
  const spent = await keyWith({ budget_usd: "0" });
  const error = {
    message: expect.stringMatching(
      /^The budget of the key ".+" \(0 USD a month\) is used up\. The next one begins on \d{4}-\d\d-01 at 00:00 UTC\.$/,
    ),
    data: { type: "billing_error" },
  };
  expect((await responseOf(await send({ key: spent, label: "spent" }))).error).toEqual({
    code: -32600,
    ...error,
  });
  const session = await sessionAt("/mcp/old", spent);
  const relayed = await send({ key: spent, label: "spent", path: "/mcp/old", tool: "echo", session });
  expect([relayed.status, relayed.headers.get("retry-after")]).toEqual([402, null]);
  expect(relayed.headers.get("x-should-retry")).toBe("false");
  expect((await responseOf(relayed)).error).toMatchObject(error);
  expect(await it.calls("spent", 2)).toMatchObject(
    Array(2).fill({ status: "denied", error_code: "budget_exhausted" }),
  );
});
