import { beforeAll, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI } from "@google/genai";
import { Agent, type AgentInputItem, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents";
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { ALL } from "#test/support/tiers.ts";
import {
  ANSWER,
  billOf,
  LOST_THOUGHTS,
  MODELS,
  type VendorModel,
  type VendorModels,
  vendorModels,
} from "#test/support/vendor-models.ts";
import type { WiredGateway } from "#test/support/wired-gateway.ts";

// Any client on any model: each SDK at a model of each vendor, over three turns with two calls of a tool at once. The stand-ins
// refuse what the vendors refuse, and bill their tokens. Coding agents as they are published: test/agents.

let world: VendorModels;
let gateway: WiredGateway;

beforeAll(async () => {
  world = await vendorModels();
  ({ gateway } = world);
});

const QUESTIONS = ["Weather?", "And now?", "And later?"];
const SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false as const,
};
const headersOf = (session: string) => ({ "x-session-id": session });
const openai = (session: string) =>
  new OpenAI({
    apiKey: gateway.secret,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: headersOf(session),
  });

type Ask = (models: readonly VendorModel[], session: string) => Promise<string[]>;

/** `kept`: what the client keeps of an answer's message. */
function chatting(kept: (message: OpenAI.ChatCompletionMessage) => OpenAI.ChatCompletionMessage): Ask {
  return async (models, session) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [];
    const tools = [{ type: "function" as const, function: { name: "weather", parameters: SCHEMA } }];
    return await turns(models, async ({ turn, content, model }) => {
      messages.push({ role: "user", content });
      for (;;) {
        const client = openai(session).chat.completions;
        const call = { model, tools, messages };
        const { choices } =
          turn % 2 === 0 ? await client.create(call) : await client.stream(call).finalChatCompletion();
        const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
        messages.push(kept(message));
        if (!message.tool_calls?.length) return message.content ?? "";
        for (const { id } of message.tool_calls)
          messages.push({ role: "tool", tool_call_id: id, content: "rain" });
      }
    });
  };
}

/** Three turns of each SDK, every other one streamed; their last texts. */
const CLIENTS = {
  async ai(models, session) {
    const sdk = createOpenAI({
      apiKey: gateway.secret,
      baseURL: `${gateway.url}/v1`,
      headers: headersOf(session),
    });
    const tools = { weather: tool({ inputSchema: jsonSchema<object>(SCHEMA), execute: () => "rain" }) };
    const messages: ModelMessage[] = [];
    return await turns(models, async ({ turn, content, model }) => {
      messages.push({ role: "user", content });
      const providerOptions = { openai: { store: false, forceReasoning: true } };
      const call = {
        model: sdk(model),
        tools,
        messages,
        stopWhen: stepCountIs(3),
        maxRetries: 0,
        providerOptions,
      };
      if (turn % 2 === 0) {
        const whole = await generateText(call);
        messages.push(...whole.responseMessages);
        return whole.text;
      }
      const streamed = streamText({ ...call, onError: ({ error }) => Promise.reject(error) });
      messages.push(...(await streamed.responseMessages));
      return await streamed.text;
    });
  },

  async agents(models, session) {
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: openai(session) as never }),
      tracingDisabled: true,
    });
    const weather = agentTool({
      name: "weather",
      description: "Weather.",
      parameters: SCHEMA as never,
      execute: () => "rain",
    });
    let history: AgentInputItem[] = [];
    return await turns(models, async ({ turn, content, model }) => {
      const agent = new Agent({ name: "sky", model, tools: [weather] });
      const input: AgentInputItem[] = [...history, { role: "user", content }];
      const result =
        turn % 2 === 0 ? await runner.run(agent, input) : await runner.run(agent, input, { stream: true });
      if ("completed" in result) await result.completed;
      history = result.history;
      return String(result.finalOutput);
    });
  },

  openai: chatting((message) => message),

  async responses(models, session) {
    const input: OpenAI.Responses.ResponseInput = [];
    const tools = [{ type: "function" as const, name: "weather", parameters: SCHEMA, strict: true }];
    return await turns(models, async ({ turn, content, model }) => {
      input.push({ role: "user", content });
      for (;;) {
        const client = openai(session).responses;
        const call = { model, tools, input, store: false, include: ["reasoning.encrypted_content" as const] };
        const { output, output_text } =
          turn % 2 === 0 ? await client.create(call) : await client.stream(call).finalResponse();
        input.push(...(output as OpenAI.Responses.ResponseInput));
        const calls = output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
        if (calls.length === 0) return output_text;
        for (const call_id of calls) input.push({ type: "function_call_output", call_id, output: "rain" });
      }
    });
  },

  async anthropic(models, session) {
    const client = new Anthropic({
      apiKey: gateway.secret,
      baseURL: gateway.url,
      maxRetries: 0,
      defaultHeaders: headersOf(session),
    });
    const messages: Anthropic.MessageParam[] = [];
    return await turns(models, async ({ turn, content, model }) => {
      messages.push({ role: "user", content });
      for (;;) {
        const thinking =
          model === "claude-opus-4-6"
            ? { type: "adaptive" as const }
            : { type: "enabled" as const, budget_tokens: 1024 };
        const call = {
          model,
          max_tokens: 4096,
          thinking,
          tools: [{ name: "weather", input_schema: SCHEMA }],
          messages,
        };
        const answer =
          turn % 2 === 0
            ? await client.messages.create(call)
            : await client.messages.stream(call).finalMessage();
        messages.push({ role: "assistant", content: answer.content });
        const calls = answer.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
        if (calls.length === 0)
          return answer.content.flatMap((block) => (block.type === "text" ? block.text : [])).join("");
        messages.push({
          role: "user",
          content: calls.map((tool_use_id) => ({ type: "tool_result", tool_use_id, content: "rain" })),
        });
      }
    });
  },

  async genai(models, session) {
    const ai = new GoogleGenAI({
      apiKey: gateway.secret,
      httpOptions: { baseUrl: gateway.url, headers: headersOf(session) },
    });
    const contents: Content[] = [];
    const config = { tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: SCHEMA }] }] };
    return await turns(models, async ({ turn, content: text, model }) => {
      contents.push({ role: "user", parts: [{ text }] });
      for (;;) {
        const call = { model, contents, config };
        const chunks =
          turn % 2 === 0
            ? [await ai.models.generateContent(call)]
            : await Array.fromAsync(await ai.models.generateContentStream(call));
        const parts = chunks
          .flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
          .filter((part) => part.text !== "");
        contents.push({ role: "model", parts });
        const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
        if (calls.length === 0) return parts.map((part) => part.text ?? "").join("");
        const results = calls.map(({ id = "", name = "" }) => ({
          functionResponse: { id, name, response: { output: "rain" } },
        }));
        contents.push({ role: "user", parts: results });
      }
    });
  },
} satisfies Record<string, Ask>;

type Turn = { turn: number; content: string; model: VendorModel };

/** Three turns, at the models in turn. */
async function turns(models: readonly VendorModel[], ask: (it: Turn) => Promise<string>): Promise<string[]> {
  const said: string[] = [];
  for (const [turn, content] of QUESTIONS.entries()) {
    const model = models[turn % models.length];
    if (model) said.push(await ask({ turn, content, model }));
  }
  return said;
}

/** Two SDKs speak the responses that a third one speaks, too: they take every other model in turn. */
const CELLS = (Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]).flatMap((client) =>
  MODELS.filter(
    (_, at) => process.env[ALL] || !["ai", "agents"].includes(client) || (at % 2 === 0) === (client === "ai"),
  ).map((model) => [client, model] as const),
);

test.each(CELLS)(
  "%s at %s: three turns of parallel calls, for what the vendor bills",
  async (client, model) => {
    world.forget();
    const session = newId();
    expect(await CLIENTS[client]([model], session)).toEqual([ANSWER, ANSWER, ANSWER]);
    // OpenAI's chat completions say once that these models are reached by responses.
    expect(world.refused()).toEqual([]);
    const records = await gateway.records(session, 6);
    expect(records.map(({ state }) => state)).toEqual(Array(6).fill("ok"));
    expect(records.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0)).toBeCloseTo(
      billOf(model, 6),
      12,
    );
  },
);

test.each(["gemini-3-pro-preview", "kimi-k2-thinking", "deepseek-v4"] as const)(
  "a client that loses the thoughts of %s is served, and the vendor's refusals cost nothing",
  async (model) => {
    world.forget();
    const session = newId();
    const losing = chatting(({ role, content, refusal, tool_calls }) => ({
      ...{ role, content, refusal },
      ...(tool_calls && {
        tool_calls: tool_calls.map((call) => ({ ...call, ...{ extra_content: undefined } })),
      }),
    }));
    expect(await losing([model], session)).toEqual([ANSWER, ANSWER, ANSWER]);
    expect(world.refused().filter((text) => LOST_THOUGHTS.test(text))).toHaveLength(5);
    const records = await gateway.records(session, 6);
    expect(records.map(({ state, status }) => [state, status])).toEqual(Array(6).fill(["ok", 200]));
    const usd = records.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0);
    expect(usd).toBeCloseTo(billOf(model, 6), 12);
  },
);

/** Each model before, between and after models of two other vendors; with `--all`, by every client, and in the other order, too. */
const SWITCHES = MODELS.flatMap((model, index) => {
  const at = (step: number) => MODELS[(index + step) % MODELS.length] ?? model;
  const forth = [model, at(1), at(3)] as const;
  return process.env[ALL] ? [forth, forth.toReversed()] : [forth];
});

test.each(
  (Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]).flatMap((client, turn) =>
    SWITCHES.filter((_, at) => process.env[ALL] || at % 3 === turn % 3).map(
      (models) => [client, models.join(", "), models] as const,
    ),
  ),
)("%s over %s in one conversation", async (client, _, models) => {
  world.forget();
  expect(await CLIENTS[client](models, newId())).toEqual([ANSWER, ANSWER, ANSWER]);
});
