import { afterAll, beforeAll, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { startToolGateway, type ToolGateway } from "#test/support/tool-server/gateway.ts";

// Guardrails judge what a tool is called with, before its server sees it.

let it: ToolGateway;
let key: string;
beforeAll(async () => {
  it = await startToolGateway();
  key = await it.key();
  const rule = (name: string, body: object) => it.admin("PUT", `/guardrails/${name}`, body);
  await rule("words", { match: { pattern: "(?i)project falcon" }, message: "No talk of that project." });
  await rule("softly", {
    match: { tags: ["soft"], pattern: "osprey" },
    action: "soft_deny",
    message: "Not that.",
  });
  await rule("watching", { match: { tags: ["watched"] }, mode: "observe" });
  await rule("by-client", { match: { clients: ["banned-agent"] } });
  await rule("of-routes", { match: { routes: ["echo"] } });
  await rule("of-models", { match: { models: ["*"] } });
});
afterAll(() => it.close());

type Sent = { label: string; path: string; words?: unknown; args?: string; headers?: Record<string, string> };

async function send({ label, path, words, args, headers = {} }: Sent) {
  const tool = path === "/mcp" ? "old__echo" : "echo";
  const given = args ?? JSON.stringify({ words });
  const common = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
    "x-gateway-key": key,
    "x-session-id": label,
    ...headers,
  };
  const post = (body: string, more: object = {}) =>
    fetch(it.url + path, { method: "POST", headers: { ...common, ...more }, body });
  const session = path === "/mcp" ? null : await sessionFrom(post);
  const before = it.servers.old.seen.length;
  const answer = await post(
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"${tool}","arguments":${given}}}`,
    session ? { "mcp-session-id": session } : {},
  );
  const text = await answer.text();
  const [, event] = /^data: (\{.*\})$/m.exec(text) ?? [];
  return {
    status: answer.status,
    ...JSON.parse(event ?? text),
    reached: it.servers.old.seen.slice(before).some(({ body }) => body.includes("tools/call")),
  };
}

async function sessionFrom(post: (body: string) => Promise<Response>): Promise<string> {
  const clientInfo = { name: "t", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const answer = await post(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
  await answer.text();
  return answer.headers.get("mcp-session-id") ?? "";
}

const recorded = async (label: string) => {
  await it.calls(label, 1);
  const rows = await it.sql`
    select status, error_code, cost_usd, guardrail from tool_calls where session = ${label}`;
  return rows.map((row) => ({ ...row }));
};

const ADDRESSES = [
  ["/mcp", "joined"],
  ["/mcp/old", "relayed"],
] as const;

for (const [path, name] of ADDRESSES) {
  test(`at ${path} a rule refuses what it finds in a tool's arguments, and the server sees nothing`, async () => {
    const refused = await send({ label: `${name}-words`, path, words: { deep: ["on Project Falcon"] } });
    expect(refused).toMatchObject({
      status: 200,
      jsonrpc: "2.0",
      id: 7,
      error: { code: -32600, message: "No talk of that project.", data: { type: "guardrail_blocked" } },
      reached: false,
    });
    expect(await recorded(`${name}-words`)).toEqual([
      { status: "denied", error_code: "guardrail_blocked", cost_usd: "0", guardrail: "words" },
    ]);
    const passed = await send({ label: `${name}-birds`, path, words: "on birds" });
    expect(passed).toMatchObject({ result: { content: expect.anything() }, reached: true });
    expect(await recorded(`${name}-birds`)).toMatchObject([{ status: "ok", guardrail: null }]);
  });

  test(`at ${path} neither escapes, nor names, nor a second member of the same name hide a text`, async () => {
    for (const [index, args] of [
      String.raw`{"words":"project \u0066alcon"}`,
      `{"project falcon":"x"}`,
      `{"words":"project falcon","words":"hi"}`,
      `{"words":"{\\"q\\":\\"project falcon\\"}"}`,
    ].entries()) {
      expect(await send({ label: `${name}-hidden-${index}`, path, args })).toMatchObject({
        error: { data: { type: "guardrail_blocked" } },
        reached: false,
      });
    }
  });

  test(`at ${path} a soft denial is a tool's result that its model can read`, async () => {
    const headers = { "x-tags": "soft" };
    const denied = await send({ label: `${name}-soft`, path, words: "osprey", headers });
    expect(denied).toMatchObject({
      status: 200,
      id: 7,
      result: { content: [{ type: "text", text: "Not that." }], isError: true },
      reached: false,
    });
    expect(await recorded(`${name}-soft`)).toMatchObject([
      { status: "denied", error_code: "guardrail_blocked", guardrail: "softly" },
    ]);
  });

  test(`at ${path} a rule that only observes is recorded and counted, and the call goes on`, async () => {
    const headers = { "x-tags": "watched" };
    const passed = await send({ label: `${name}-watched`, path, words: "x", headers });
    expect(passed).toMatchObject({ result: { content: expect.anything() }, reached: true });
    expect(await recorded(`${name}-watched`)).toMatchObject([{ status: "ok", guardrail: "watching" }]);
    const metrics = await fetch(`${it.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    expect(await metrics.text()).toMatch(
      /^tallygate_guardrail_matches_total\{guardrail="watching",outcome="observed"\} \d+$/m,
    );
  });

  test(`at ${path} a rule for a client refuses its calls, whatever they say`, async () => {
    const headers = { "x-client": "banned-agent" };
    expect(await send({ label: `${name}-client`, path, words: "x", headers })).toMatchObject({
      error: { data: { type: "guardrail_blocked" } },
      reached: false,
    });
  });
}

test("the protocol's own client gets the refusal as an error of the call, and goes on", async () => {
  const client = new Client({ name: "agent", version: "1" });
  const requestInit = { headers: { "x-gateway-key": key, "x-session-id": "own-client" } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${it.url}/mcp/new`), { requestInit }));
  const echo = (words: string) => client.callTool({ name: "echo", arguments: { words } });
  await expect(echo("project falcon")).rejects.toThrow("No talk of that project.");
  expect(await echo("birds")).toMatchObject({ content: expect.anything() });
  await client.close();
  expect(await it.calls("own-client", 2)).toMatchObject([{ status: "denied" }, { status: "ok" }]);
});
