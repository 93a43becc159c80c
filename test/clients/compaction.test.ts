import { beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { type StrictClaude, strictClaude } from "#test/support/strict-claude.ts";
import { type StrictOpenAi, strictOpenAi } from "#test/support/strict-openai.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Codex compacts long conversations at its vendor. Here another vendor's model writes the summary.

const SUMMARY = "The user wants a lighthouse in chalk.";
let claude: StrictClaude;
let vendor: StrictOpenAi;
let gateway: WiredGateway;
let openai: OpenAI;
const session = newId();

beforeAll(async () => {
  claude = strictClaude();
  vendor = strictOpenAi();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: claude.url });
  const defaultHeaders = { "x-session-id": session };
  openai = new OpenAI({
    apiKey: gateway.secret,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders,
  });
});

const CALL = { type: "function_call", call_id: "c1", name: "draw", arguments: "{}" } as const;
const HISTORY: OpenAI.Responses.ResponseInput = [
  { role: "user", content: "Draw a lighthouse." },
  CALL,
  { type: "function_call_output", call_id: "c1", output: "drawn" },
  { type: "message", role: "assistant", content: "Done." } as OpenAI.Responses.EasyInputMessage,
];
const TOOLS = [{ type: "function" as const, name: "draw", parameters: { type: "object" }, strict: false }];

describe("a conversation with a Claude model", () => {
  test("is compacted, continues at models of both vendors, and is recorded with its cost", async () => {
    claude.play(() => [{ text: SUMMARY }]);
    const { object, output, usage } = await openai.responses.compact({
      model: "claude-opus-4-6",
      input: HISTORY,
      ...({ tools: TOOLS } as object),
    });
    expect([object, output.map(({ type }) => type), usage.output_tokens]).toEqual([
      "response.compaction",
      [undefined, "compaction"] as never,
      8,
    ]);
    expect(claude.refused).toEqual([]);
    expect(claude.seen[0]).toMatchObject({ tool_choice: { type: "none" } });
    const input = [
      ...(output as OpenAI.Responses.ResponseInput),
      { role: "user" as const, content: "Next?" },
    ];
    claude.play(() => [{ text: "Colour." }]);
    expect((await openai.responses.create({ model: "claude-opus-4-6", input })).output_text).toBe("Colour.");
    expect(JSON.stringify(claude.seen[0]?.messages)).toContain(SUMMARY);
    vendor.forget();
    await openai.responses.create({ model: "gpt-5.6-terra", input });
    expect(JSON.stringify(vendor.requests[0]?.input)).toContain(SUMMARY);
    const [compaction] = await gateway.records(session, 3);
    expect(compaction).toMatchObject({ input_tokens: 21, output_tokens: 8, state: "ok", unpriced: false });
  });

  test.each([false, true])("is compacted by a trigger as its last item (streamed: %p)", async (stream) => {
    claude.play(() => [{ text: SUMMARY }]);
    const input = [...HISTORY, { type: "compaction_trigger" as const }];
    const call = { model: "claude-opus-4-6", input, tools: TOOLS, store: false };
    const { output } = stream
      ? await openai.responses.stream(call).finalResponse()
      : await openai.responses.create(call);
    expect(output).toMatchObject([{ type: "compaction", encrypted_content: expect.any(String) }]);
  });

  test("is not continued from a compaction that only its vendor can read, and the refusal says so", async () => {
    const input = [{ type: "compaction" as const, encrypted_content: "gAAAA" }];
    const refused = await openai.responses.create({ model: "claude-opus-4-6", input }).catch(String);
    expect(refused).toContain(
      "`input[0].type` cannot be expressed in the provider's format: only the vendor",
    );
  });

  test("has its summary judged by guardrails", async () => {
    claude.play(() => [{ text: "The launch code is 42." }]);
    const { output } = await openai.responses.compact({ model: "claude-opus-4-6", input: "Hi" });
    const guardrail = { match: { pattern: "launch code" }, mode: "enforce", action: "block" };
    await gateway.admin("PUT", "/guardrails/codes", guardrail);
    const input = output as OpenAI.Responses.ResponseInput;
    const refused = await openai.responses.create({ model: "claude-opus-4-6", input }).catch(String);
    expect(refused).toContain("403");
    await gateway.admin("DELETE", "/guardrails/codes");
  });
});

test("input is counted by the vendor, and estimated at other vendors", async () => {
  const count = (model: string) => openai.responses.inputTokens.count({ model, input: "How many tokens?" });
  expect(await count("gpt-5.6-terra")).toEqual({ object: "response.input_tokens", input_tokens: 11 });
  expect(await count("claude-opus-4-6")).toEqual({ object: "response.input_tokens", input_tokens: 5 });
});
