import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freePort } from "#test/support/ports.ts";
import { startToolGateway, TOOL_CREDENTIAL, type ToolGateway } from "#test/support/tool-server/gateway.ts";
import { startToolServer } from "#test/support/tool-server/server.ts";
import { until } from "#test/support/until.ts";

let it: ToolGateway;
let key: string;

beforeAll(async () => {
  it = await startToolGateway({ TOOL_BYTES_MAX: "65536" });
  key = await it.key();
});
afterAll(() => it.close());

type Answer = {
  status: number;
  headers: Headers;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
};

const LEGACY = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };

/** One message, and the response in it, whichever form the answer has. */
async function post(
  path: string,
  message: object | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(it.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-key": key, ...LEGACY, ...headers },
    body: typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
  const text = await answer.text();
  const [, event] = /^data: (\{.*\})$/m.exec(text) ?? [];
  const response = event ?? (text.startsWith("{") ? text : "{}");
  return { status: answer.status, headers: answer.headers, ...JSON.parse(response) };
}

const call = (name: string, args: object = {}, meta: object = {}) => ({
  method: "tools/call",
  params: { name, arguments: args, _meta: meta },
});
const toolsOf = ({ result }: Answer): string[] =>
  ((result?.["tools"] ?? []) as { name: string }[]).map(({ name }) => name);
const LIST = { method: "tools/list", params: {} };
const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

describe("who may call what", () => {
  test("a key for one server sees and calls nothing of another, which is recorded as denied", async () => {
    const scoped = { "x-gateway-key": await it.key({ mcp: ["new"] }), "x-session-id": "scoped" };
    const tools = toolsOf(await post("/mcp", LIST, scoped));
    expect(tools).toContain("new__echo");
    expect(tools.filter((name) => name.startsWith("old__"))).toEqual([]);
    const hidden = await post("/mcp", call("old__echo", { words: "x" }), scoped);
    const unknown = await post("/mcp", call("odd__echo", { words: "x" }), scoped);
    expect(hidden).toMatchObject({
      status: 200,
      error: { code: -32602, message: "Unknown tool: old__echo" },
    });
    expect(unknown.error).toMatchObject({ code: -32602, message: "Unknown tool: odd__echo" });
    const server = await post("/mcp/old", call("echo"), scoped);
    expect([server.status, (await post("/mcp/odd", call("echo"), scoped)).status]).toEqual([404, 404]);
    expect(await it.calls("scoped", 2)).toMatchObject(
      Array(2).fill({ status: "denied", server: "old", tool: "echo", cost_usd: "0" }),
    );
  });

  test("a key for one tool sees this tool only, at both addresses, and no prompts", async () => {
    const scoped = { "x-gateway-key": await it.key({ mcp: ["old__echo"] }), "x-session-id": "one-tool" };
    expect(toolsOf(await post("/mcp", LIST, scoped))).toEqual(["old__echo"]);
    const session = await initialised("/mcp/old", scoped);
    expect(toolsOf(await post("/mcp/old", LIST, { ...scoped, ...session }))).toEqual(["echo"]);
    expect(await post("/mcp/old", { method: "prompts/list" }, { ...scoped, ...session })).toMatchObject({
      error: { code: -32601 },
    });
    expect((await post("/mcp", { method: "prompts/list" }, scoped)).result?.["prompts"]).toEqual([]);
    const refused = await post("/mcp/old", call("test_simple_text"), { ...scoped, ...session });
    expect(refused.error?.message).toBe("Unknown tool: test_simple_text");
    const echoed = await post("/mcp/old", call("echo", { words: "yes" }), { ...scoped, ...session });
    expect(echoed.result?.["content"]).toEqual([{ type: "text", text: "yes" }]);
    expect((await it.calls("one-tool", 2)).map(({ status }) => status)).toEqual(["denied", "ok"]);
  });

  test.each([
    ["its key is revoked", "DELETE", (id: string) => `/keys/${id}`, undefined],
    ["its key may not use the server", "PATCH", (id: string) => `/keys/${id}`, { scopes: { mcp: ["old"] } }],
    ["the server is deleted", "DELETE", () => "/mcp-servers/open", undefined],
  ] as const)(
    "a stream that a server keeps open brings nothing more once %s",
    async (name, method, pathOf, body) => {
      const { promise: opened, resolve: open } =
        Promise.withResolvers<ReadableStreamDefaultController<string>>();
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: () =>
          new Response(new ReadableStream({ start: open }), {
            headers: { "content-type": "text/event-stream" },
          }),
      });
      const url = `http://127.0.0.1:${server.port}/`;
      await it.admin("PUT", "/mcp-servers/open", { url, allow_private_network: true });
      const { id, secret } = await it.admin<{ id: string; secret: string }>("POST", "/keys", { name });
      const answer = fetch(`${it.url}/mcp/open`, { headers: { ...LEGACY, "x-gateway-key": secret } });
      const events = await opened;
      events.enqueue("data: before\n\n");
      const reader = (await answer).body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("before");
      await it.admin(method, pathOf(id), body);
      events.enqueue("data: after\n\n");
      expect(
        await reader?.read().then(
          ({ done }) => done,
          () => true,
        ),
      ).toBe(true);
      await server.stop(true);
      if (name !== "the server is deleted") await it.admin("DELETE", "/mcp-servers/open");
    },
  );

  test("a server's own lists hold for every key, from the admin call on", async () => {
    await it.admin("PATCH", "/mcp-servers/new", { tools: { deny: ["test_*"] } });
    const tools = toolsOf(await post("/mcp", LIST)).filter((name) => name.startsWith("new__"));
    expect(tools.toSorted()).toEqual([
      "new__break_off",
      "new__echo",
      "new__json_schema_2020_12_tool",
      "new__wait",
    ]);
    await it.admin("PATCH", "/mcp-servers/new", { tools: {} });
    expect(toolsOf(await post("/mcp", LIST))).toContain("new__test_simple_text");
  });

  test.each(["/mcp", "/mcp/old"])(
    "%s takes no page of another origin, and no call without a key",
    async (path) => {
      const foreign = await post(path, LIST, { origin: "https://evil.example" });
      expect(foreign).toMatchObject({ status: 403, error: { code: -32600 } });
      const own = await post(path, INITIALIZE, { origin: it.url });
      expect(own.status).toBe(200);
      const nobody = await post(path, LIST, { "x-gateway-key": "tg_unknown" });
      expect(nobody).toMatchObject({
        status: 401,
        error: { code: -32001, data: { type: "authentication_error" } },
      });
      expect(nobody.headers.get("content-type")).toContain("application/json");
    },
  );
});

async function initialised(path: string, headers: Record<string, string> = {}) {
  const { headers: told } = await post(path, INITIALIZE, headers);
  return { "mcp-session-id": told.get("mcp-session-id") ?? "" };
}

describe("what goes to a server", () => {
  test("is its own credential, and nothing that the client presents", async () => {
    it.servers.old.seen.length = 0;
    const presented = { authorization: "Bearer of-the-client", cookie: "a=b", "x-secret": "c" };
    await post("/mcp", call("old__echo", { words: "x" }), presented);
    await post("/mcp/old", INITIALIZE, presented);
    expect(it.servers.old.seen.length).toBeGreaterThan(1);
    for (const { headers } of it.servers.old.seen) {
      expect(headers["authorization"]).toBe(`Bearer ${TOOL_CREDENTIAL}`);
      expect(Object.keys(headers).filter((name) => name.startsWith("x-") || name === "cookie")).toEqual([]);
      expect(JSON.stringify(headers)).not.toContain(key);
    }
  });

  test("is the message byte for byte at its own address", async () => {
    const session = await initialised("/mcp/old");
    it.servers.old.seen.length = 0;
    const body =
      '{"jsonrpc":"2.0", "id":7,"method":"tools/call","params":{"name":"echo","arguments":{"words":"\\u00e9","n":12345678901234567890,"x":1.0}}}';
    await post("/mcp/old", body, session);
    expect(it.servers.old.seen.map((request) => request.body)).toEqual([body]);
  });

  test("goes in the header that the administrator names, and is forgotten when the address changes", async () => {
    const view = await it.admin("PATCH", "/mcp-servers/old", {
      credential_header: "x-api-key",
      credential: "k",
    });
    expect(view).toMatchObject({ has_credential: true, credential_header: "x-api-key" });
    it.servers.old.seen.length = 0;
    await post("/mcp/old", INITIALIZE);
    expect(it.servers.old.seen[0]?.headers).toMatchObject({ "x-api-key": "k" });
    const { url } = it.servers.old;
    const moved = await it.admin("PATCH", "/mcp-servers/old", { url: `${url}/elsewhere` });
    expect(moved).toMatchObject({ has_credential: false });
    const back = { url, credential: TOOL_CREDENTIAL, credential_header: null };
    expect(await it.admin("PATCH", "/mcp-servers/old", back)).toMatchObject({ has_credential: true });
    const { data } = await it.admin<{ data: { action: string; subject: string }[] }>("GET", "/audit");
    expect(data[0]).toMatchObject({ action: "mcp_server.set", subject: "old" });
  });

  test("a session of one key is none for another", async () => {
    const session = await initialised("/mcp/old");
    expect((await post("/mcp/old", LIST, session)).status).toBe(200);
    const other = { ...session, "x-gateway-key": await it.key() };
    expect((await post("/mcp/old", LIST, other)).status).toBe(404);
    expect((await post("/mcp/old", LIST, { "mcp-session-id": "made-up" })).status).toBe(404);
    const ended = await fetch(`${it.url}/mcp/old`, {
      method: "DELETE",
      headers: { "x-gateway-key": key, ...LEGACY, ...session },
    });
    expect(ended.status).toBe(200);
    expect((await post("/mcp/old", LIST, session)).status).toBe(404);
  });
});

describe("when a server fails", () => {
  test("one that is dead empties no list, and a call of its tools fails free of charge", async () => {
    const url = `http://127.0.0.1:${freePort()}/mcp`;
    const dead = { name: "dead", url, price_per_call: 1, allow_private_network: true };
    await it.admin("POST", "/mcp-servers", dead);
    expect(toolsOf(await post("/mcp", LIST))).toContain("old__echo");
    const session = { "x-session-id": "dead" };
    const called = await post("/mcp", call("dead__echo"), session);
    expect(called).toMatchObject({
      error: { code: -32603, message: "The tool server dead did not answer (cause refused)." },
    });
    const relayed = await post("/mcp/dead", call("echo"), session);
    const message = "The tool server could not be reached (server dead, cause refused).";
    expect(relayed).toMatchObject({ status: 502, error: { code: -32603, message } });
    expect(await it.calls("dead", 2)).toMatchObject(
      Array(2).fill({ status: "failed", error_code: "unreachable", error_cause: "refused", cost_usd: "0" }),
    );
    await it.admin("DELETE", "/mcp-servers/dead");
  });

  test.each(["/mcp", "/mcp/old"])(
    "a client that leaves %s cancels the call, which is recorded as unknown",
    async (path) => {
      const session = path === "/mcp" ? {} : await initialised(path);
      const label = `left${path.replaceAll("/", "-")}`;
      const leaving = new AbortController();
      const name = path === "/mcp" ? "old__wait" : "wait";
      const asked = fetch(it.url + path, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-gateway-key": key,
          ...LEGACY,
          ...session,
          "x-session-id": label,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 5, ...call(name) }),
        signal: leaving.signal,
      }).then((answer) => answer.text());
      const before = it.servers.old.seen.length;
      await until(() => it.servers.old.seen.slice(before).some(({ body }) => body.includes('"wait"')));
      leaving.abort();
      await expect(asked).rejects.toThrow();
      const isCancelled = () =>
        it.servers.old.seen.some(({ body }) => body.includes("notifications/cancelled"));
      if (path === "/mcp") await until(isCancelled);
      expect(await it.calls(label, 1)).toMatchObject([
        { status: "unknown", tool: "wait", cost_usd: "0.002" },
      ]);
    },
  );

  test("one that answers with a status of HTTP fails free of charge, at both addresses", async () => {
    const broken = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        const message = (await request.json()) as { id?: number; method: string };
        if (message.method === "tools/call") return new Response("out of order", { status: 500 });
        if (message.id === undefined) return new Response(null, { status: 202 });
        const serverInfo = { name: "broken", version: "1" };
        const result = {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo,
          tools: [],
        };
        const error = { code: -32601, message: "Method not found" };
        const known = ["initialize", "tools/list"].includes(message.method);
        return Response.json({ jsonrpc: "2.0", id: message.id, ...(known ? { result } : { error }) });
      },
    });
    const url = `${broken.url.origin}/mcp`;
    await it.admin("POST", "/mcp-servers", {
      name: "broken",
      url,
      price_per_call: "0.002",
      allow_private_network: true,
    });
    const labels = { "x-session-id": "broken" };
    const answer = await post("/mcp", call("broken__any"), labels);
    expect(answer.error).toMatchObject({
      code: -32603,
      message: "The tool server broken answered with HTTP status 500.",
    });
    expect((await post("/mcp/broken", call("any"), labels)).status).toBe(500);
    expect(await it.calls("broken", 2)).toMatchObject(
      Array(2).fill({ status: "failed", error_code: "http_500", cost_usd: "0" }),
    );
    await it.admin("DELETE", "/mcp-servers/broken");
    await broken.stop(true);
  });

  test("one whose answer breaks off leaves the cause in the record, at both addresses", async () => {
    const cutter = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{") },
    });
    const url = `http://127.0.0.1:${cutter.port}/mcp`;
    await it.admin("POST", "/mcp-servers", { name: "cutter", url, allow_private_network: true });
    const relayed = await post("/mcp/cutter", call("echo"), { "x-session-id": "cut" });
    expect(relayed.error?.["message"]).toBe(
      "The tool server's answer ended early (server cutter, cause reset).",
    );
    expect(await it.calls("cut", 1)).toMatchObject([{ status: "unknown", error_cause: "reset" }]);
    await it.admin("DELETE", "/mcp-servers/cutter");
    cutter.stop(true);
  });

  test("one that has forgotten its sessions is called in a new one", async () => {
    const label = { "x-session-id": "forgotten" };
    await post("/mcp", call("old__echo", { words: "one" }), label);
    it.servers.old.forget();
    const again = await post("/mcp", call("old__echo", { words: "two" }), label);
    expect(again.result?.["content"]).toEqual([{ type: "text", text: "two" }]);
    expect(await it.calls("forgotten", 2)).toMatchObject([{ status: "ok" }, { status: "ok" }]);
  });

  test.each([
    [401, "refuses the gateway's credential"],
    [403, "refuses the gateway's credential"],
    [307, "redirects, which the gateway does not follow"],
  ])(
    "one that answers %d was reached, and is not mistaken for a refusal of the client's",
    async (status, said) => {
      let isRefusing = true;
      const refusing = startToolServer({
        eras: "legacy",
        before: () => (isRefusing ? new Response("no", { status, headers: { location: "/" } }) : null),
      });
      const name = `refusing-${status}`;
      await it.admin("POST", "/mcp-servers", { name, url: refusing.url, allow_private_network: true });
      const label = { "x-session-id": name };
      const message = `The tool server ${name} ${said}.`;
      const relayed = await post(`/mcp/${name}`, call("echo"), label);
      expect(relayed).toMatchObject({ status: 503, error: { code: -32603, message } });
      const joined = () => post("/mcp", call(`${name}__echo`, { words: "x" }), label);
      expect((await joined()).error).toMatchObject({ code: -32603, message });
      isRefusing = false;
      expect((await joined()).error).toBeUndefined();
      isRefusing = true;
      expect((await joined()).error).toMatchObject({ code: -32603, message });
      const refused = { status: "failed", error_code: `http_${status}`, cost_usd: "0" };
      expect(await it.calls(name, 4)).toMatchObject([refused, refused, { status: "ok" }, refused]);
      const lines = it.log().split("\n");
      const about = lines.filter((line) => line.includes(`"server":"${name}"`));
      expect(about.length).toBeGreaterThan(1);
      expect(about.filter((line) => !line.includes(`"code":"HTTP_${status}"`))).toEqual([]);
      await it.admin("DELETE", `/mcp-servers/${name}`);
      await refusing.stop();
    },
  );

  test("a client that cancels by a message is answered, and the server is told", async () => {
    const label = { "x-session-id": "cancels" };
    const before = it.servers.old.seen.length;
    const since = () => it.servers.old.seen.slice(before).map(({ body }) => body);
    const asked = post("/mcp", { ...call("old__wait"), id: 77 }, label);
    await until(() => since().some((body) => body.includes('"wait"')));
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } };
    await post("/mcp", JSON.stringify(cancel), { "x-session-id": "of-another" });
    expect((await post("/mcp", JSON.stringify(cancel), label)).status).toBe(202);
    expect((await asked).error?.code).toBe(-32603);
    await until(() => since().some((body) => body.includes("notifications/cancelled")));
    expect(await it.calls("cancels", 1)).toMatchObject([{ status: "unknown", tool: "wait" }]);
  });

  test("a message that is too large, no JSON, a batch, or ambiguous is refused in the protocol's own form", async () => {
    const large = call("old__echo", { words: "x".repeat(70_000) });
    expect(await post("/mcp", large)).toMatchObject({ status: 413, error: { code: -32600 } });
    expect(await post("/mcp", "{")).toMatchObject({ status: 400, error: { code: -32700 } });
    expect(await post("/mcp", "[]")).toMatchObject({ status: 400, error: { code: -32600 } });
    const twice = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"wait"}}';
    expect(await post("/mcp/old", twice)).toMatchObject({ status: 400, error: { code: -32600 } });
    const header = { "mcp-name": "wait" };
    expect(await post("/mcp/old", call("echo"), header)).toMatchObject({
      status: 400,
      error: { code: -32020 },
    });
    const got = await fetch(`${it.url}/mcp`, { headers: { "x-gateway-key": key } });
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

test("an agent's own id of a call is kept, and nothing of arguments and results anywhere", async () => {
  const canary = `canary-${crypto.randomUUID()}`;
  const meta = { "claudecode/toolUseId": "toolu_01", note: canary };
  for (const [path, name] of [
    ["/mcp", "old__echo"],
    ["/mcp", "new__echo"],
  ] as const) {
    const told = await post(path, call(name, { words: canary }, meta), {
      "x-session-id": "canary",
      "x-tags": "a,b",
    });
    expect(JSON.stringify(told.result)).toContain(canary);
  }
  const session = await initialised("/mcp/old");
  await post("/mcp/old", call("echo", { words: canary }), { ...session, "x-session-id": "canary" });
  const calls = await it.calls("canary", 2);
  expect(calls.find(({ external_id }) => external_id === "toolu_01")).toMatchObject({
    status: "ok",
    tags: ["a", "b"],
  });
  const tables = await it.sql<
    { name: string }[]
  >`select tablename as name from pg_tables where schemaname = 'public'`;
  for (const { name } of tables) {
    const found = await it.sql`select 1 from ${it.sql(name)} t where t::text like ${`%${canary}%`} limit 1`;
    expect([name, found.length]).toEqual([name, 0]);
  }
  expect(it.log()).not.toContain(canary);
  for await (const file of new Bun.Glob("**/*").scan({ cwd: it.dataDir, dot: true })) {
    expect(Buffer.from(await Bun.file(`${it.dataDir}/${file}`).bytes()).includes(canary)).toBe(false);
  }
});
