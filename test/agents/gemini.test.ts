import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { agentProgram, runAgent } from "#test/support/agents.ts";
import { scratch } from "#test/support/embedded.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type StoredRecord, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const gemini = await agentProgram("gemini-cli");
const SAID = "It rains in Bern.";
const FILE = "a-line-of-the-file";

let vendor: ScriptedUpstream;
let gateway: WiredGateway;

beforeAll(async () => {
  vendor = await scriptedUpstream(answer);
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/providers/google", {
    kind: "gemini",
    base_url: `${vendor.url}/v1beta/openai`,
    credential: "of-the-vendor",
    allow_private_network: true,
    enabled: true,
  });
});
afterAll(async () => {
  await gateway.close();
  await vendor.close();
});

/** Each vendor has a file read first, and then speaks. */
function answer({ path, body }: SeenRequest, reply: Reply): void {
  reply.head("text/event-stream");
  for (const data of path.startsWith("/v1beta") ? ofGoogle(body) : ofChat(body)) {
    reply.chunk(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  reply.end();
}

const ARGUMENTS = { file_path: "here.txt" };

function ofGoogle(body: string): object[] {
  const part = body.includes("functionResponse")
    ? { text: SAID }
    : { functionCall: { name: "read_file", args: ARGUMENTS } };
  return [
    {
      candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 5, totalTokenCount: 16 },
      modelVersion: "gemini-2.5-pro",
      responseId: "r",
    },
  ];
}

function ofChat(body: string): (object | string)[] {
  const answered = body.includes('"role":"tool"');
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "read_file", arguments: JSON.stringify(ARGUMENTS) },
  };
  const delta = answered ? { content: SAID } : { tool_calls: [call] };
  const chunk = (choices: object[], more: object = {}) => ({ id: "c", model: "gpt-4o", choices, ...more });
  return [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: answered ? "stop" : "tool_calls" }]),
    chunk([], { usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 } }),
    "[DONE]",
  ];
}

describe.skipIf(gemini === null)("Gemini CLI, with the gateway as its only setting, is metered at", () => {
  test.each([
    ["Google's own format", "gemini-2.5-pro", "google"],
    ["a model of another vendor", "gpt-4o", "chat-vendor"],
  ])("%s", async (_, model, provider) => {
    const place = scratch();
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    };
    await Bun.write(join(place.path, ".gemini/settings.json"), JSON.stringify(settings));
    await Bun.write(join(place.path, "here.txt"), FILE);
    const words = ["-p", "Read here.txt.", "-m", model, "--approval-mode", "yolo"];
    const { stdout, stderr } = await runAgent([...(gemini ?? []), ...words], {
      home: place.path,
      env: {
        GEMINI_API_KEY: gateway.secret,
        GOOGLE_GEMINI_BASE_URL: gateway.url,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      },
    });
    expect(stdout, stderr.slice(-2000)).toContain(SAID);
    expect(vendor.seen.at(-1)?.body).toContain(FILE);
    let rows: StoredRecord[] = [];
    await until(async () => {
      rows = await gateway.sql<StoredRecord[]>`select * from requests where provider = ${provider}`;
      return rows.length >= 2;
    });
    for (const row of rows) {
      expect(row).toMatchObject({ client: "gemini-cli", state: "ok", input_tokens: 11, output_tokens: 5 });
    }
  });
});
