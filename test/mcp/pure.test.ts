import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ToolServer } from "#gateway/directory.ts";
import { pageAt } from "#gateway/mcp/catalog.ts";
import { RpcError, readMessage, rpcErrorResponse } from "#gateway/mcp/json-rpc.ts";
import { JOINED } from "#gateway/mcp/naming.ts";
import { requireOwnOrigin } from "#gateway/mcp/origin.ts";
import { NO_ANSWER, outcomeOf, toolCallCost } from "#gateway/mcp/outcome.ts";
import { mayCall, mayUseServer } from "#gateway/mcp/permission.ts";
import { labelsOf } from "#gateway/mcp/tool-call-record.ts";

const server: ToolServer = {
  name: "files",
  url: "https://tools.example/mcp",
  credential: null,
  credentialHeader: null,
  allow: null,
  deny: [],
  pricePerCall: null,
  prices: {},
  allowPrivateNetwork: false,
};
const key = (mcp?: readonly string[]) => ({ scopes: mcp ? { mcp: [...mcp] } : {} });
const bytes = (text: string) => new TextEncoder().encode(text);

describe("names", () => {
  test("every tool of every server is found again under its joined name", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,23}$/),
        fc.string({ minLength: 1 }),
        (name, tool) => {
          expect(JOINED.splitName(JOINED.name({ name }, tool))).toEqual({ server: name, own: tool });
          expect(JOINED.splitUri(JOINED.uri({ name }, tool))).toEqual({ server: name, own: tool });
        },
      ),
    );
  });
});

describe("permission", () => {
  test.each([
    { why: "a key without the scope may call all", mcp: undefined, may: true },
    { why: "a key for the server may call all of it", mcp: ["files"], may: true },
    { why: "a key for the tool may call it", mcp: ["files__read"], may: true },
    { why: "a key for another tool may not", mcp: ["files__write"], may: false },
    { why: "a key for a server whose name begins alike may not", mcp: ["file", "files2"], may: false },
    { why: "an empty scope allows nothing", mcp: [], may: false },
  ])("$why", ({ mcp, may }) => {
    expect(mayCall(key(mcp), server, "read")).toBe(may);
  });

  test("a server's lists hold for every key, and deny is the stronger", () => {
    const lists = { ...server, allow: ["read*"], deny: ["*_secret"] };
    const may = (tool: string) => mayCall(key(["files"]), lists, tool);
    expect([may("read"), may("read_secret"), may("write")]).toEqual([true, false, false]);
    expect(mayUseServer(key(["files__read"]), server)).toBe(true);
    expect(mayUseServer(key(["other"]), server)).toBe(false);
  });
});

describe("outcomes", () => {
  test.each([
    [{ result: { content: [] } }, "ok", null, true],
    [{ result: { content: [], isError: true } }, "failed", null, true],
    [{ error: { code: -32602, message: "x" } }, "failed", "-32602", true],
    [{ error: { code: "a text", message: "x" } }, "failed", null, true],
    [{ result: { resultType: "input_required" } }, "pending", null, false],
    [{ result: { resultType: "task" } }, "pending", null, true],
    [{ result: { task: { taskId: "1" } } }, "pending", null, true],
    [{}, "unknown", null, true],
  ])("%j is %s", (response, status, errorCode, worked) => {
    expect(outcomeOf(response)).toEqual({
      status: status as never,
      errorCode,
      errorCause: null,
      worked,
    });
  });

  test("a tool's price wins over its server's; without either it is unknown, and what was not done is free", () => {
    const priced = { ...server, pricePerCall: "0.5", prices: { read: "0.1" } };
    expect([toolCallCost(priced, "read", NO_ANSWER), toolCallCost(priced, "write", NO_ANSWER)]).toEqual([
      "0.1",
      "0.5",
    ]);
    expect(toolCallCost(server, "toString", NO_ANSWER)).toBeNull();
    expect(toolCallCost(priced, "read", { worked: false })).toBe("0");
  });
});

describe("messages", () => {
  test.each([
    ["{", -32700],
    ["[]", -32600],
    ['{"id":1,"method":"a"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"a"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":2}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"b","n\\u0061me":"c"}}', -32600],
  ])("%s is refused", (text, code) => {
    expect(() => readMessage(bytes(text))).toThrow(expect.objectContaining({ code }));
  });

  test("an error of ours tells nothing of what went wrong inside", async () => {
    const answer = rpcErrorResponse(new Error("secret"), 7, "an-id");
    expect(answer.status).toBe(500);
    const body = await answer.json();
    expect(body).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      error: { code: -32603, data: { type: "server_error" } },
    });
    expect(JSON.stringify(body)).not.toContain("secret");
  });
});

test("a page of another origin is refused, and none and our own are not", () => {
  const own = { publicUrl: "https://gate.example/base", allowedHosts: ["gate.internal"] };
  const from = (origin?: string) => () => requireOwnOrigin(new Headers(origin ? { origin } : {}), own);
  for (const origin of [
    "http://localhost:1",
    "http://127.0.0.1:2",
    "http://[::1]:3",
    "https://gate.example",
  ]) {
    expect(from(origin)).not.toThrow();
  }
  expect(from("https://gate.internal")).not.toThrow();
  expect(from()).not.toThrow();
  for (const origin of [
    "https://evil.example",
    "null",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
  ]) {
    expect(from(origin)).toThrow(RpcError);
  }
});

test("a client goes by the name in its message unless it is known by more", () => {
  const told = (headers: Record<string, string>) =>
    labelsOf(new Headers(headers), { _meta: { "io.modelcontextprotocol/clientInfo": { name: "desk" } } })
      .client;
  expect(told({ "user-agent": "node" })).toBe("desk");
  expect(told({ "user-agent": "claude-code/2.1.330 (cli)" })).toBe("claude-code");
  expect(told({ "x-client": "mine", "user-agent": "node" })).toBe("mine");
});

test("pages of a list are whole, in order, and end", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3500 }), (count) => {
      const items = Array.from({ length: count }, (_, index) => index);
      const seen: number[] = [];
      for (let cursor: string | undefined, more = true; more; ) {
        const page = pageAt(items, cursor);
        seen.push(...(page?.items ?? []));
        cursor = page?.next.nextCursor;
        more = cursor !== undefined;
      }
      expect(seen).toEqual(items);
    }),
    { numRuns: 20 },
  );
  expect(pageAt([1], "from:x")).toBeNull();
});
