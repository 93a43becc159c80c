import { beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents";
import {
  generateText,
  type LanguageModel,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { type StrictClaude, strictClaude } from "#test/support/strict-claude.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Clients of OpenAI's formats at a Claude that refuses all that its vendor refuses: nothing they send may become a 400.

let vendor: StrictClaude;
let gateway: WiredGateway;
let openai: OpenAI;

beforeAll(async () => {
  vendor = strictClaude();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  openai = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});

/** A model that has neither answers by a schema nor adaptive thoughts, one that has the first, one that has both. */
const MODELS = ["claude-opus-4-1", "claude-sonnet-4-5", "claude-opus-4-6"] as const;

const ai = () => {
  const settings = { apiKey: gateway.secret, baseURL: `${gateway.url}/v1` };
  const own = createOpenAI(settings);
  const compatible = createOpenAICompatible({
    ...settings,
    name: "gateway",
    supportsStructuredOutputs: true,
  });
  return { chat: own.chat, responses: own.responses, compatible };
};
const eachAi = (model: string): [string, LanguageModel][] =>
  Object.entries(ai()).map(([name, of]) => [name, of(model)]);
const runner = (useResponses: boolean) =>
  new Runner({
    tracingDisabled: true,
    modelProvider: new OpenAIProvider({ openAIClient: openai, useResponses }),
  });

describe.each(MODELS)("a JSON answer of %s", (model) => {
  const ANSWER = { n: 42, tags: { a: 1 }, note: null };
  // With what OpenAI takes in a schema and Anthropic's grammars do not: bounds, and maps of any keys.
  const bounded = z.object({ n: z.number().int().min(1).max(99), note: z.string().max(9).nullable() });
  const open = z.object({ n: z.number(), tags: z.record(z.string(), z.number()) });

  const answersJson = (answer: object) =>
    vendor.play(({ tools = [], tool_choice: choice, output_config: config }) => {
      const last = tools.at(-1);
      const name =
        choice?.type === "tool" ? choice.name : choice?.type === "any" && last && "name" in last && last.name;
      if (name) return [{ call: name, id: "toolu_1", input: answer }];
      return [{ text: config?.format ? JSON.stringify(answer) : "No JSON was asked for." }];
    });
  const { note, n, tags } = ANSWER;

  test("of any shape reaches OpenAI's client, whole and streamed", async () => {
    answersJson(ANSWER);
    const call = {
      model,
      messages: [{ role: "user" as const, content: "Answer in JSON." }],
      response_format: { type: "json_object" as const },
    };
    const { choices } = await openai.chat.completions.create(call);
    expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual(ANSWER);
    expect(choices[0]?.finish_reason).toBe("stop");
    const final = await openai.chat.completions.stream(call).finalContent();
    expect(JSON.parse(final ?? "")).toEqual(ANSWER);
    const format = { type: "json_object" as const };
    const { output_text } = await openai.responses.create({ model, input: "JSON", text: { format } });
    expect(JSON.parse(output_text)).toEqual(ANSWER);
    expect(vendor.refused).toEqual([]);
  });

  test("of a schema reaches OpenAI's client, whatever the schema bounds or leaves open", async () => {
    answersJson({ n, note });
    const messages = [{ role: "user" as const, content: "Answer." }];
    const chat = { model, messages, response_format: zodResponseFormat(bounded, "answer") };
    const completion = await openai.chat.completions.parse(chat);
    expect(completion.choices[0]?.message.parsed).toEqual({ n, note });
    const text = { format: zodTextFormat(bounded, "answer") };
    const response = await openai.responses.parse({ model, input: "Answer.", text });
    expect(response.output_parsed).toEqual({ n, note });
    // Not strict, so its author need not close it.
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    const response_format = { type: "json_schema", json_schema: { name: "answer", schema } } as const;
    const { choices } = await openai.chat.completions.create({ model, messages, response_format });
    expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ n, note });
    expect(vendor.refused).toEqual([]);
  });

  test("reaches `ai`, with a schema and without", async () => {
    for (const [name, at] of eachAi(model)) {
      const call = { model: at, prompt: "Answer in JSON.", maxRetries: 0 };
      answersJson(ANSWER);
      expect([name, (await generateText({ ...call, output: Output.json() })).output]).toEqual([name, ANSWER]);
      answersJson({ n, note });
      const object = { ...call, output: Output.object({ schema: bounded }) };
      expect([name, (await generateText(object)).output]).toEqual([name, { n, note }]);
      expect([name, await streamText(object).output]).toEqual([name, { n, note }]);
      answersJson({ n, tags });
      const map = { ...call, output: Output.object({ schema: open }) };
      expect([name, (await generateText(map)).output]).toEqual([name, { n, tags }]);
    }
    expect(vendor.refused).toEqual([]);
  });

  test.each([false, true])("reaches agents of OpenAI's kit (responses: %p)", async (useResponses) => {
    answersJson({ n, note });
    const agent = new Agent({ name: "counter", model, outputType: bounded });
    expect((await runner(useResponses).run(agent, "Answer.")).finalOutput).toEqual({ n, note });
    expect(vendor.refused).toEqual([]);
  });
});

describe("tools whose names are too long for the vendor", () => {
  const stem = `mcp__a-server-with-a-long-name__${"reads_the_forecast_of_a_place_".repeat(2)}`;
  const NAMES = [`${stem}by_city`, `${stem}by_code`] as const;
  const PLACE = { city: "Oslo" };
  const results = (messages: object[]) => JSON.stringify(messages).match(/"tool_result"/g)?.length ?? 0;

  /** The model calls every tool that it has, once, and then answers. */
  const callsAll = () =>
    vendor.play(({ tools = [], messages }) =>
      results(messages) > 0
        ? [{ text: "It rains." }]
        : tools.flatMap((one, index) =>
            "name" in one ? [{ call: one.name, id: `toolu_${index}`, input: PLACE }] : [],
          ),
    );
  const namesSeen = () =>
    new Set(vendor.seen.flatMap(({ tools = [] }) => tools.flatMap((one) => ("name" in one ? one.name : []))));

  test("are called by their own names in `ai`, whole and streamed, over a second question", async () => {
    for (const [name, model] of eachAi("claude-opus-4-6")) {
      callsAll();
      const ran: string[] = [];
      const tools = Object.fromEntries(
        NAMES.map((own) => [
          own,
          tool({
            inputSchema: z.object({ city: z.string().min(1) }),
            execute: ({ city }) => {
              ran.push(`${own} ${city}`);
              return "rain";
            },
          }),
        ]),
      );
      const call = { model, tools, stopWhen: stepCountIs(3), maxRetries: 0 };
      const first = await generateText({ ...call, prompt: "Weather?" });
      const messages: ModelMessage[] = [
        { role: "user", content: "Weather?" },
        ...first.responseMessages,
        { role: "user", content: "And now?" },
      ];
      expect([name, first.text, (await generateText({ ...call, messages })).text]).toEqual([
        name,
        "It rains.",
        "It rains.",
      ]);
      expect([name, await streamText({ ...call, prompt: "Weather?" }).text]).toEqual([name, "It rains."]);
      expect(ran.sort()).toEqual(NAMES.flatMap((own) => Array(2).fill(`${own} Oslo`)));
      expect(vendor.refused).toEqual([]);
      expect(namesSeen().size).toBe(2);
    }
  });

  test.each([false, true])("are called by agents of OpenAI's kit (responses: %p)", async (useResponses) => {
    callsAll();
    const ran: string[] = [];
    const tools = NAMES.map((name) =>
      agentTool({
        name,
        description: "Weather.",
        // Strict, and with a bound.
        parameters: z.object({ city: z.string().min(1) }),
        execute: ({ city }) => {
          ran.push(`${name} ${city}`);
          return "rain";
        },
      }),
    );
    const agent = new Agent({ name: "forecaster", model: "claude-opus-4-6", tools });
    expect((await runner(useResponses).run(agent, "Weather?")).finalOutput).toBe("It rains.");
    expect(ran.sort()).toEqual(NAMES.map((own) => `${own} Oslo`));
    expect(vendor.refused).toEqual([]);
  });
});
