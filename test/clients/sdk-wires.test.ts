import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { type StrictOpenAi, strictOpenAi } from "#test/support/strict-openai.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Models that their vendor serves on one wire only, from clients of all formats.

let vendor: StrictOpenAi;
let gateway: WiredGateway;
const session = newId();

beforeAll(async () => {
  vendor = strictOpenAi();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  const reachable = { credential: "vendor-credential", allow_private_network: true };
  for (const [name, kind, path, models] of [
    ["plain", "openai-compatible", "/plain", "local-*"],
    ["moonshot", "moonshot", "/plain", "kimi-*"],
    ["azure", "azure", "/v1", "deployed-*"],
    ["countless", "azure", "/plain", "countless-*"],
  ]) {
    await gateway.admin("PUT", `/providers/${name}`, {
      kind,
      base_url: vendor.url + path,
      models: [models],
      ...reachable,
    });
  }
});
beforeEach(() => vendor.forget());

const openai = () =>
  new OpenAI({
    apiKey: gateway.secret,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: { "x-session-id": session },
  });
const learned = async (name: string) =>
  (await gateway.admin<{ learned_wires: object[] }>("GET", `/providers/${name}`)).learned_wires;
const TOOLS = [{ type: "function" as const, function: { name: "weather", parameters: { type: "object" } } }];

test.each([false, true])(
  "Anthropic's client at a reasoning model of OpenAI's, over three turns (streamed: %p)",
  async (streamed) => {
    const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [];
    const ask = () => {
      const call = {
        model: "gpt-5.6-terra",
        max_tokens: 4096,
        temperature: 1,
        thinking: { type: "enabled" as const, budget_tokens: 1024 },
        tools: [{ name: "weather", input_schema: { type: "object" as const } }],
        messages,
      };
      return streamed ? anthropic.messages.stream(call).finalMessage() : anthropic.messages.create(call);
    };
    for (const question of ["Weather?", "And now?", "And later?"]) {
      messages.push({ role: "user", content: question });
      const { content, usage } = await ask();
      expect(content.map(({ type }) => type)).toEqual(["thinking", "tool_use", "tool_use"]);
      expect(usage).toMatchObject({ input_tokens: 10, output_tokens: 5 });
      const results = content.flatMap((block) =>
        block.type === "tool_use"
          ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "rain" }]
          : [],
      );
      messages.push({ role: "assistant", content }, { role: "user", content: results });
      const answer = await ask();
      expect(answer.content.at(-1)).toMatchObject({ type: "text", text: "It rains." });
      messages.push({ role: "assistant", content: answer.content });
    }
    expect([vendor.refused, vendor.returned]).toEqual([[], [0, 1, 2, 3, 4, 5]]);
    expect(new Set(vendor.paths)).toEqual(new Set(["/v1/responses"]));
  },
);

test.each([false, true])(
  "a client that omits thoughts carries them without their text (streamed: %p)",
  async (streamed) => {
    const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Weather?" }];
    const ask = () => {
      const call = {
        model: "gpt-5.6-terra",
        max_tokens: 4096,
        thinking: { type: "adaptive" as const, display: "omitted" as const },
        tools: [{ name: "weather", input_schema: { type: "object" as const } }],
        messages,
      };
      return streamed ? anthropic.messages.stream(call).finalMessage() : anthropic.messages.create(call);
    };
    const { content } = await ask();
    expect(content[0]).toMatchObject({ type: "thinking", thinking: "" });
    const results = content.flatMap((block) =>
      block.type === "tool_use"
        ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "rain" }]
        : [],
    );
    messages.push({ role: "assistant", content }, { role: "user", content: results });
    await ask();
    expect([vendor.refused, vendor.returned]).toEqual([[], [0, 1]]);
    expect(vendor.requests[0]?.reasoning?.summary).toBeUndefined();
  },
);

test("Google's client at it", async () => {
  const client = new GoogleGenAI({ apiKey: gateway.secret, httpOptions: { baseUrl: gateway.url } });
  const contents: Content[] = [{ role: "user", parts: [{ text: "Weather?" }] }];
  const config = {
    tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: { type: "object" } }] }],
  };
  const ask = () => client.models.generateContent({ model: "gpt-5.6-terra", contents, config });
  const first = await ask();
  contents.push(first.candidates?.[0]?.content ?? {});
  const parts = (first.functionCalls ?? []).map(({ id = "" }) => ({
    functionResponse: { id, name: "weather", response: { output: "rain" } },
  }));
  contents.push({ role: "user", parts });
  expect((await ask()).text).toBe("It rains.");
  expect([vendor.refused, vendor.returned]).toEqual([[], [0, 1]]);
});

describe("a chat client", () => {
  const ask = { messages: [{ role: "user" as const, content: "Weather?" }], tools: TOOLS };

  test("at a model that the catalogue knows to lack chat completions never calls them", async () => {
    const { choices } = await openai().chat.completions.create({ ...ask, model: "gpt-5.3-codex" });
    expect(choices[0]?.message.tool_calls).toHaveLength(2);
    expect(vendor.paths).toEqual(["/v1/responses"]);
  });

  test.each([
    ["gpt-5.6-luna", "chat-vendor", false],
    ["deployed-codex", "azure", true],
  ])("at %s learns from its refusal, in the same call", async (model, provider, streamed) => {
    const client = openai().withOptions({ defaultHeaders: { "x-session-id": `${session}${model}` } });
    for (const paths of [["/v1/chat/completions", "/v1/responses"], ["/v1/responses"]]) {
      vendor.forget();
      const { choices } = streamed
        ? await client.chat.completions.stream({ ...ask, model }).finalChatCompletion()
        : await client.chat.completions.create({ ...ask, model });
      expect(choices[0]?.message.tool_calls).toHaveLength(2);
      expect(vendor.paths).toEqual(paths);
    }
    const records = await gateway.records(`${session}${model}`, 2);
    expect(records).toMatchObject([
      { state: "ok", status: 200, input_tokens: 10, output_tokens: 5, error_type: null },
      { state: "ok", status: 200, input_tokens: 10, output_tokens: 5, error_type: null },
    ]);
    expect(await learned(provider)).toContainEqual({ model, lacks: "chat", learned_at: expect.any(String) });
  });

  test("at a model that then refuses a member on the other wire is served without it", async () => {
    const wished: object = { prompt_cache_options: { ttl: "1h" } };
    const create = () => openai().chat.completions.create({ ...ask, ...wished, model: "deployed-wished" });
    for (const refusals of [2, 0]) {
      vendor.forget();
      expect((await create()).choices[0]?.message.tool_calls).toHaveLength(2);
      expect(vendor.refused).toHaveLength(refusals);
    }
    expect(
      (await learned("azure")).filter((one) => "model" in one && one.model === "deployed-wished"),
    ).toMatchObject([{ lacks: "prompt_cache_options" }, { lacks: "chat" }]);
  });

  test("without tools stays on chat completions", async () => {
    await openai().chat.completions.create({ messages: ask.messages, model: "gpt-5.6-sol" });
    expect(vendor.paths).toEqual(["/v1/chat/completions"]);
  });

  test("gets the refusal of an unknown model as it is", async () => {
    const fault = await openai()
      .chat.completions.create({ ...ask, model: "gpt-5-missing" })
      .catch((error) => error);
    expect(fault).toMatchObject({ status: 404, code: "model_not_found" });
    expect(vendor.paths).toEqual(["/v1/chat/completions"]);
  });
});

describe("what a model does not take is left out once its vendor says so:", () => {
  const anthropic = () => new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
  const question = { messages: [{ role: "user" as const, content: "Weather?" }] };
  const thinking = { type: "enabled" as const, budget_tokens: 10_000 };

  test.each([
    ["gpt-4o", { max_tokens: 20_000, thinking }, ["reasoning_effort", "max_completion_tokens"]],
    ["deployed-mini", { max_tokens: 2_000, temperature: 0.2 }, ["temperature"]],
  ] as const)("of %s", async (model, members, lacks) => {
    const before = (await learned("chat-vendor")).length + (await learned("azure")).length;
    for (const refusals of [lacks.length, 0]) {
      vendor.forget();
      const { data, response } = await anthropic()
        .messages.create({ ...question, ...members, model })
        .withResponse();
      expect([data.content[0], vendor.refused.length]).toMatchObject([{ text: "It rains." }, refusals]);
      for (const name of lacks) expect(response.headers.get("x-gateway-dropped")).toContain(name);
    }
    expect((await learned("chat-vendor")).length + (await learned("azure")).length).toBe(
      before + lacks.length,
    );
  });

  test("and is asked for again where the call without it was refused as well", async () => {
    const before = await learned("azure");
    const members: object = { temperature: 0.2 };
    for (const _ of [1, 2]) {
      vendor.forget();
      const fault = await anthropic()
        .messages.create({ ...question, ...members, max_tokens: 2_000, model: "deployed-strict" })
        .catch((error) => error);
      expect([fault.status, vendor.refused]).toEqual([
        400,
        [expect.stringContaining("'temperature'"), "The prompt is refused."],
      ]);
    }
    expect(await learned("azure")).toEqual(before);
  });

  test("a native call keeps its refusal", async () => {
    const fault = await openai()
      .chat.completions.create({ ...question, model: "gpt-4o", reasoning_effort: "high" })
      .catch((error) => error);
    expect([fault.status, vendor.refused]).toEqual([400, [expect.stringContaining("reasoning_effort")]]);
  });
});

describe("a responses client", () => {
  test("at a server without responses learns it from 404", async () => {
    for (const [stream, paths] of [
      [false, ["/plain/responses", "/plain/chat/completions"]],
      [true, ["/plain/chat/completions"]],
    ] as const) {
      vendor.forget();
      const call = { model: "local-1", input: "Weather?" };
      const { output_text } = stream
        ? await openai().responses.stream(call).finalResponse()
        : await openai().responses.create(call);
      expect([output_text, vendor.paths]).toEqual(["It rains.", [...paths]]);
    }
    expect(await learned("plain")).toMatchObject([{ model: "local-1", lacks: "responses" }]);
  });

  test("at a vendor that has none by the catalogue never calls them", async () => {
    const { output_text } = await openai().responses.create({ model: "kimi-k2", input: "Weather?" });
    expect([output_text, vendor.paths]).toEqual(["It rains.", ["/plain/chat/completions"]]);
  });

  test("gets the refusal of an unknown model as it is", async () => {
    const fault = await openai()
      .responses.create({ model: "local-missing", input: "Hi" })
      .catch((error) => error);
    expect(fault).toMatchObject({ status: 404, code: "model_not_found" });
    expect(vendor.paths).toEqual(["/plain/responses"]);
  });
});

describe("a token count", () => {
  const count = (model: string) => openai().responses.inputTokens.count({ model, input: "Weather?" });

  test("at a provider whose address has none is estimated, as elsewhere", async () => {
    expect(await count("deployed-1")).toEqual({ object: "response.input_tokens", input_tokens: 11 });
    const estimate = await count("kimi-k2");
    expect(estimate.input_tokens).toBeGreaterThan(0);
    expect(await count("countless-1")).toEqual(estimate);
    expect(vendor.paths).toEqual(["/v1/responses/input_tokens", "/plain/responses/input_tokens"]);
    const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Weather?" }];
    const { input_tokens } = await anthropic.messages.countTokens({ model: "claude-opus-4-6", messages });
    expect(input_tokens).toBeGreaterThan(0);
  });

  test("of an unknown model is refused", async () => {
    const fault = await count("countless-missing").catch((error) => error);
    expect(fault).toMatchObject({ status: 404, code: "model_not_found" });
  });
});
