import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { startToolGateway, type ToolGateway } from "#test/support/tool-server/gateway.ts";

// The protocol's own clients of both eras, through /mcp to servers of either era.

let it: ToolGateway;

beforeAll(async () => {
  it = await startToolGateway();
});
afterAll(() => it.close());

const SELF = { name: "client-of-the-suite", version: "1.0.0" };

/** What all of them can do: connect, and ask. */
const CLIENTS = {
  "SDK 1, with sessions": async (path: string, headers: Record<string, string>) => {
    const client = new OlderClient(SELF);
    const transport = new OlderTransport(new URL(it.url + path), { requestInit: { headers } });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return client;
  },
  "SDK 2, revision 2025-11-25": (path: string, headers: Record<string, string>) =>
    newer(path, headers, { mode: "legacy" }),
  "SDK 2, revision 2026-07-28": (path: string, headers: Record<string, string>) =>
    newer(path, headers, { mode: { pin: "2026-07-28" } }),
};

async function newer(
  path: string,
  headers: Record<string, string>,
  versionNegotiation: { mode: never | object | string },
) {
  const client = new Client(SELF, { versionNegotiation: versionNegotiation as never });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(it.url + path), { requestInit: { headers } }),
  );
  return client;
}

describe.each(Object.entries(CLIENTS))("%s", (name, connected) => {
  const label = `s-${name.replaceAll(/[^a-z0-9]/gi, "-")}`;

  test("lists and calls the tools of servers of both eras through /mcp", async () => {
    const headers = { authorization: `Bearer ${await it.key()}`, "x-session-id": label };
    const client = await connected("/mcp", headers);
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    expect(names).toContain("old__echo");
    expect(names).toContain("new__echo");
    for (const server of ["old", "new"]) {
      const echoed = await client.callTool({ name: `${server}__echo`, arguments: { words: "hello" } });
      expect(echoed).toMatchObject({ content: [{ type: "text", text: "hello" }] });
      const wrong = await client.callTool({ name: `${server}__test_error_handling`, arguments: {} });
      expect(wrong.isError).toBe(true);
      await expect(client.callTool({ name: `${server}__break_off`, arguments: {} })).rejects.toThrow(
        "it broke",
      );
      const steps: number[] = [];
      const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
      const asked = { name: `${server}__test_tool_with_progress`, arguments: {} };
      await (client instanceof Client
        ? client.callTool(asked, { onprogress })
        : client.callTool(asked, undefined, { onprogress }));
      expect(steps).toEqual([0, 50, 100]);
    }
    await client.close();

    const calls = await it.calls(label, 8);
    // Older clients tell their name at the beginning only, which a gateway without sessions does not remember.
    const row = {
      client: name.includes("2026") ? SELF.name : "Bun",
      session: label,
      tags: [],
      channel: "mcp",
      latency_ms: expect.any(Number),
    };
    expect(calls).toMatchObject(
      ["old", "new"].flatMap((server) => [
        { ...row, server, tool: "echo", status: "ok", cost_usd: "0.0000001", error_code: null },
        {
          ...row,
          server,
          tool: "test_error_handling",
          status: "failed",
          cost_usd: "0.002",
          error_code: null,
        },
        { ...row, server, tool: "break_off", status: "failed", cost_usd: "0.002", error_code: "-32603" },
        { ...row, server, tool: "test_tool_with_progress", status: "ok", cost_usd: "0.002" },
      ]),
    );
  });

  test("reads prompts, resources and completions of both through /mcp", async () => {
    const client = await connected("/mcp", { "x-api-key": await it.key() });
    for (const server of ["old", "new"]) {
      const { prompts } = await client.listPrompts();
      expect(prompts.map((prompt) => prompt.name)).toContain(`${server}__test_simple_prompt`);
      const prompt = { name: `${server}__test_prompt_with_arguments`, arguments: { arg1: "a", arg2: "b" } };
      expect(await client.getPrompt(prompt)).toMatchObject({
        messages: [{ content: { text: "A prompt of a and b" } }],
      });
      const { resources } = await client.listResources();
      const uri = `${server}+test://static-text`;
      expect(resources.map((resource) => resource.uri)).toContain(uri);
      expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map((template) => template.uriTemplate)).toContain(
        `${server}+test://template/{id}/data`,
      );
      const ref = { type: "ref/prompt" as const, name: `${server}__test_prompt_with_arguments` };
      const argument = { name: "arg1", value: "pa" };
      expect(await client.complete({ ref, argument })).toMatchObject({
        completion: { values: ["paris", "park"] },
      });
    }
    await client.close();
  });

  test("speaks to a server of either era at the server's own address", async () => {
    const session = `${label}-own`;
    const headers = { authorization: `Bearer ${await it.key()}`, "x-session-id": session };
    for (const server of ["old", "new"]) {
      const client = await connected(`/mcp/${server}`, headers);
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toContain("echo");
      const echoed = await client.callTool({ name: "echo", arguments: { words: server } });
      expect(echoed).toMatchObject({ content: [{ type: "text", text: server }] });
      const uri = "test://static-text";
      expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
      await client.close();
    }
    expect(await it.calls(session, 2)).toMatchObject(
      ["old", "new"].map((server) => ({ server, tool: "echo", status: "ok", cost_usd: "0.0000001" })),
    );
  });
});

describe("a tool that asks the person", () => {
  const asking = { name: "new__test_input_required_result_elicitation", arguments: {} };
  const capabilities = { elicitation: { form: {} } };

  test("is answered by a client of revision 2026-07-28, through /mcp; the question is recorded as pending", async () => {
    const session = "s-asks";
    const headers = { authorization: `Bearer ${await it.key()}`, "x-session-id": session };
    const client = new Client(SELF, { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
    const transport = new StreamableHTTPClientTransport(new URL(`${it.url}/mcp`), {
      requestInit: { headers },
    });
    await client.connect(transport);
    const answered = await client.callTool(asking);
    expect(JSON.stringify(answered.content)).toContain("Ada");
    await client.close();
    expect(await it.calls(session, 2)).toMatchObject([
      { status: "pending", cost_usd: "0" },
      { status: "ok", cost_usd: "0.002" },
    ]);
  });

  test("tells an older client at /mcp that it cannot be asked", async () => {
    const client = await older("/mcp", { authorization: `Bearer ${await it.key()}` });
    await expect(client.callTool(asking)).rejects.toThrow(/capabilit/i);
    const asked = { name: "old__test_elicitation", arguments: { message: "?" } };
    await expect(client.callTool(asked)).rejects.toThrow(/elicitation/i);
    await client.close();
  });

  test("asks an older client within its session at the server's own address", async () => {
    const session = "s-asks-old";
    const client = await older("/mcp/old", {
      authorization: `Bearer ${await it.key()}`,
      "x-session-id": session,
    });
    const answered = await client.callTool({ name: "test_elicitation", arguments: { message: "?" } });
    expect(JSON.stringify(answered.content)).toContain("Ada");
    await client.close();
    expect(await it.calls(session, 1)).toMatchObject([{ status: "ok", tool: "test_elicitation" }]);
  });

  async function older(path: string, headers: Record<string, string>) {
    const client = new OlderClient(SELF, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { response: "Ada" } }));
    const transport = new OlderTransport(new URL(it.url + path), { requestInit: { headers } });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return client;
  }
});
