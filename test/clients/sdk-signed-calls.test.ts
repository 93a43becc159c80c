import { beforeAll, beforeEach, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { atEnd } from "#test/support/at-end.ts";
import { type StrictGemini, strictGemini } from "#test/support/strict-gemini.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Clients of other formats at a Gemini that signs its calls of tools and refuses a conversation without the signatures.

const MODEL = "gemini-3-pro";
const UNKNOWN = "skip_thought_signature_validator";
const SIGNED = expect.stringMatching(/^c2lnbmF0dXJl/);

let vendor: StrictGemini;
let gateway: WiredGateway;
let openai: OpenAI;

beforeAll(async () => {
  vendor = strictGemini();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/providers/google", {
    kind: "gemini",
    base_url: vendor.url,
    credential: "vendor-credential",
    allow_private_network: true,
    models: ["gemini-*"],
  });
  openai = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});

beforeEach(() => vendor.forget());

const TOOL = { type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false };

test.each([false, true])(
  "OpenAI's client carries signatures by references and items (streamed: %p)",
  async (streamed) => {
    const ask = (more: object): Promise<OpenAI.Responses.Response> => {
      const call = { model: MODEL, tools: [TOOL], ...more };
      return streamed ? openai.responses.stream(call).finalResponse() : openai.responses.create(call);
    };
    const resultsOf = ({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseInputItem[] =>
      output.flatMap((item) =>
        item.type === "function_call"
          ? [{ type: "function_call_output", call_id: item.call_id, output: "rain" }]
          : [],
      );
    const first = await ask({ input: "Weather?" });
    expect(first.output.map(({ type }) => type)).toEqual(["function_call", "function_call"]);
    const answer = await ask({ input: resultsOf(first), previous_response_id: first.id });
    expect(answer.output_text).toBe("It rains.");

    const carried = { store: false, include: ["reasoning.encrypted_content"] };
    const input: unknown[] = [{ role: "user", content: "Weather?" }];
    const called = await ask({ ...carried, input });
    expect(called.output.map(({ type }) => type)).toEqual(["reasoning", "function_call", "function_call"]);
    input.push(...called.output, ...resultsOf(called));
    expect((await ask({ ...carried, input })).output_text).toBe("It rains.");

    expect([vendor.refused, vendor.seen]).toEqual([[], [[], [SIGNED], [], [SIGNED]]]);
  },
);

test.each([false, true])("`ai` goes on with its calls, kept and carried (streamed: %p)", async (streamed) => {
  const own = createOpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1` });
  for (const store of [true, false]) {
    vendor.forget();
    const call = {
      model: own.responses(MODEL),
      providerOptions: { openai: { store, forceReasoning: true } },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      tools: {
        weather: tool({ inputSchema: z.object({ city: z.string() }), execute: () => "rain" }),
      },
    };
    const messages: ModelMessage[] = [{ role: "user", content: "Weather?" }];
    const answer = streamed ? streamText({ ...call, messages }) : await generateText({ ...call, messages });
    expect(await answer.text).toBe("It rains.");
    // What it keeps at its vendor it sends again without what came before it.
    const signature = store ? UNKNOWN : SIGNED;
    expect([store, vendor.refused, vendor.seen]).toEqual([store, [], [[], [signature]]]);
  }
});

test.each([
  [MODEL, false],
  [MODEL, true],
  ["gemini-flash-latest", false],
  ["gemini-pro-latest", true],
] as const)(
  "Anthropic's client carries signatures in blocks that it sends back unread, at %s (streamed: %p)",
  async (model, streamed) => {
    const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Weather?" }];
    const ask = () => {
      const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
      const thinking = { type: "enabled" as const, budget_tokens: 1024 };
      const call = { model, max_tokens: 2048, thinking, tools, messages };
      return streamed ? anthropic.messages.stream(call).finalMessage() : anthropic.messages.create(call);
    };
    const { content } = await ask();
    expect(content.map(({ type }) => type)).toEqual([
      "thinking",
      "redacted_thinking",
      "tool_use",
      "tool_use",
    ]);
    const results = content.flatMap((block) =>
      block.type === "tool_use"
        ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "rain" }]
        : [],
    );
    messages.push({ role: "assistant", content }, { role: "user", content: results });
    expect((await ask()).content).toMatchObject([{ type: "thinking" }, { type: "text", text: "It rains." }]);
    expect([vendor.refused, vendor.seen]).toEqual([[], [[], [SIGNED]]]);
  },
);

test("no other vendor gets what Google put beside a call", async () => {
  const include = ["reasoning.encrypted_content" as const];
  const call = { tools: [TOOL], store: false, include };
  const input: unknown[] = [{ role: "user", content: "Weather?" }];
  const { output } = await openai.responses.create({ ...call, model: MODEL, input: input as never });
  input.push(...output);
  for (const item of output)
    if (item.type === "function_call")
      input.push({ type: "function_call_output", call_id: item.call_id, output: "rain" });
  const bodies: string[] = [];
  const plain = Bun.serve({
    port: 0,
    async fetch(http) {
      bodies.push(await http.text());
      const message = { role: "assistant", content: "It rains." };
      return Response.json({ id: "1", model: "plain-1", choices: [{ message, finish_reason: "stop" }] });
    },
  });
  atEnd(() => plain.stop(true));
  await gateway.admin("PUT", "/providers/plain", {
    kind: "openai-compatible",
    base_url: `http://127.0.0.1:${plain.port}/v1`,
    allow_private_network: true,
    models: ["plain-*"],
    responses: false,
  });
  await openai.responses.create({ ...call, model: "plain-1", input: input as never });
  expect(bodies.join()).toContain('"tool_calls"');
  expect(bodies.join()).not.toMatch(/signature|tallygate/i);
});

test("what is no signature is not sent as one", async () => {
  const packed = Buffer.from(JSON.stringify({ extra: "not JSON" })).toString("base64url");
  const input = [
    { role: "user", content: "Weather?" },
    { type: "reasoning", summary: [], encrypted_content: `tallygate.1.${packed}` },
    { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "rain" },
  ];
  await openai.responses.create({ model: MODEL, tools: [TOOL], input: input as never });
  expect([vendor.refused, vendor.seen]).toEqual([[], [[UNKNOWN]]]);
});
