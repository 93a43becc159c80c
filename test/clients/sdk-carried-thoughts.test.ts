import { beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI } from "@google/genai";
import type OpenAI from "openai";
import { type StrictChat, strictChat } from "#test/support/strict-chat.ts";
import { type StrictClaude, strictClaude } from "#test/support/strict-claude.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Thoughts of one vendor's model in another vendor's client, over calls of tools: they come back in order and whole.

let claude: StrictClaude;
let chat: StrictChat;
let gateway: WiredGateway;

beforeAll(async () => {
  claude = strictClaude();
  chat = strictChat();
  gateway = await wiredGateway({ chat: `${claude.url}/v1`, messages: claude.url });
  for (const [kind, models] of [
    ["moonshot", "kimi-*"],
    ["deepseek", "deepseek-*"],
    ["openrouter", "anthropic/*"],
  ] as const) {
    await gateway.admin("PUT", `/providers/${kind}`, {
      kind,
      base_url: `${chat.url}/${kind}`,
      credential: "vendor-credential",
      allow_private_network: true,
      models: [models],
    });
  }
});

test.each([
  ["claude-sonnet-4-5", false],
  ["claude-sonnet-4-5", true],
  ["claude-opus-4-6", true],
])(
  "Google's client at %s, whose thought comes before a text and a call (streamed: %p)",
  async (model, streamed) => {
    claude.play(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes("tool_result")
        ? [{ text: "It rains." }]
        : [{ text: " I look." }, { call: "weather", id: "toolu_1", input: { city: "Oslo" } }],
    );
    const client = new GoogleGenAI({ apiKey: gateway.secret, httpOptions: { baseUrl: gateway.url } });
    const config = {
      thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
      tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: { type: "object" } }] }],
    };
    const contents: Content[] = [{ role: "user", parts: [{ text: "Weather?" }] }];
    const ask = async () => {
      const call = { model, contents, config };
      if (!streamed) return (await client.models.generateContent(call)).candidates?.[0]?.content?.parts ?? [];
      const parts = [];
      for await (const chunk of await client.models.generateContentStream(call))
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      return parts;
    };
    const parts = await ask();
    contents.push({ role: "model", parts: parts.filter(({ text, thought }) => text !== "" && !thought) });
    const call = parts.find((part) => part.functionCall)?.functionCall;
    contents.push({
      role: "user",
      parts: [{ functionResponse: { id: call?.id ?? "", name: "weather", response: { output: "rain" } } }],
    });
    expect((await ask()).map(({ text, thought }) => (thought ? "" : text)).join("")).toBe("It rains.");
    expect(claude.refused).toEqual([]);
    const blocks = claude.seen.at(-1)?.messages[1]?.content as { type: string }[];
    expect(blocks.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
  },
);

test.each([
  ["kimi-k2-thinking", false],
  ["kimi-k2-thinking", true],
  ["deepseek-v4", false],
  ["deepseek-v4", true],
  ["anthropic/claude-opus-4.6", false],
  ["anthropic/claude-opus-4.6", true],
])("Anthropic's client at %s (streamed: %p)", async (model, streamed) => {
  chat.forget();
  const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [];
  const ask = () => {
    const call = {
      model,
      max_tokens: 4096,
      thinking: { type: "enabled" as const, budget_tokens: 1024 },
      tools: [{ name: "weather", input_schema: { type: "object" as const } }],
      system: [{ type: "text" as const, text: "Be short.", cache_control: { type: "ephemeral" as const } }],
      messages,
    };
    return streamed ? anthropic.messages.stream(call).finalMessage() : anthropic.messages.create(call);
  };
  for (const question of ["Weather?", "And now?"]) {
    messages.push({ role: "user", content: question });
    const { content } = await ask();
    expect(content.map(({ type }) => type)).toEqual(["thinking", "tool_use"]);
    messages.push({ role: "assistant", content });
    const tool_use_id = content.flatMap((block) => (block.type === "tool_use" ? block.id : []))[0] ?? "";
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id, content: "rain" }] });
    const answer = await ask();
    expect(answer.content.at(-1)).toMatchObject({ type: "text", text: "It rains." });
    messages.push({ role: "assistant", content: answer.content });
  }
  expect(chat.refused).toEqual([]);
  expect(chat.returned).toEqual([0, 1, 2, 3]);
  const system = chat.requests[0]?.messages[0]?.content;
  const marked = [{ type: "text", text: "Be short.", cache_control: { type: "ephemeral" } }];
  expect(system as unknown).toEqual(model.startsWith("anthropic/") ? marked : "Be short.");
});

test("thoughts of one vendor do not go to another, which gets a text that it takes in their place", async () => {
  chat.forget();
  const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Weather?" }];
  const ask = (model: string) =>
    anthropic.messages.create({
      model,
      max_tokens: 4096,
      thinking: { type: "enabled", budget_tokens: 1024 },
      tools: [{ name: "weather", input_schema: { type: "object" } }],
      messages,
    });
  const { content } = await ask("kimi-k2-thinking");
  messages.push({ role: "assistant", content });
  const tool_use_id = content.flatMap((block) => (block.type === "tool_use" ? block.id : []))[0] ?? "";
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id, content: "rain" }] });
  await ask("deepseek-v4");
  await ask("anthropic/claude-opus-4.6");
  // Anthropic refuses them, and gets the call again without them.
  claude.play(() => [{ text: "It rains." }]);
  expect((await ask("claude-opus-4-6")).content.at(-1)).toMatchObject({ text: "It rains." });
  expect(claude.refused).toEqual(["Invalid `signature` in `thinking` block"]);
  const said = chat.requests
    .slice(1)
    .map((request) => request.messages[1] as OpenAI.ChatCompletionMessageParam);
  expect(said.map((message) => Reflect.get(message, "reasoning_content"))).toEqual([" ", undefined]);
  expect(said.map((message) => Reflect.get(message, "reasoning_details"))).toEqual([undefined, undefined]);
});
