import { beforeAll, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents";
import { generateText, type LanguageModel, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { type StrictClaude, strictClaude } from "#test/support/strict-claude.ts";
import { ALL } from "#test/support/tiers.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Clients of OpenAI's formats that ask a Claude to reason, over a tool and a second question. The vendor refuses thoughts
// that it did not sign, and, at models that think by a budget, calls without thoughts before them.

let vendor: StrictClaude;
let gateway: WiredGateway;
let openai: OpenAI;

beforeAll(async () => {
  vendor = strictClaude();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  openai = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});

const MODELS = ["claude-sonnet-4-5", "claude-opus-4-6"] as const;
const PLACE = { city: "Oslo" };

/** Each question is answered after a call of the tool. */
function play(): void {
  vendor.play(({ messages }) => {
    const { content } = messages.at(-1) ?? {};
    return JSON.stringify(content).includes('"tool_result"')
      ? [{ text: "It rains." }]
      : [{ call: "weather", id: `toolu_${messages.length}`, input: PLACE }];
  });
}

/** What each request of a conversation of two questions had: whether it asked for thoughts, and how many it brought. */
const thoughts = () =>
  vendor.seen.map(({ thinking, messages }) => [
    thinking !== undefined,
    JSON.stringify(messages).match(/"type":"thinking"/g)?.length ?? 0,
  ]);
const RETURNED = [0, 1, 2, 3].map((count) => [true, count]);
/** What a client drops that knows no signed thoughts: they are asked for again where a question is new. */
const DROPPED = [true, false, true, false].map((asked) => [asked, 0]);

type Way = {
  name: string;
  at(model: string): LanguageModel;
  options: object;
  expected: (boolean | number)[][];
};
const ways = (): Way[] => {
  const settings = { apiKey: gateway.secret, baseURL: `${gateway.url}/v1` };
  const own = createOpenAI(settings);
  const effort = { forceReasoning: true, reasoningEffort: "high" };
  return [
    { name: "kept", at: own.responses, options: { openai: effort }, expected: RETURNED },
    {
      name: "carried",
      at: own.responses,
      options: { openai: { ...effort, store: false } },
      expected: RETURNED,
    },
    { name: "chat", at: own.chat, options: { openai: effort }, expected: DROPPED },
    {
      name: "compatible",
      at: createOpenAICompatible({ ...settings, name: "gateway" }),
      options: { gateway: { reasoningEffort: "high" } },
      expected: DROPPED,
    },
  ];
};

test.each(MODELS)("`ai` goes on with %s after a tool, whole and streamed", async (model) => {
  for (const [index, { name, at, options, expected }] of ways().entries()) {
    // Each way is taken whole at one of the models and streamed at the other; with `--all`, both at each.
    const either = (index + MODELS.indexOf(model)) % 2 === 1;
    for (const streamed of process.env[ALL] ? [false, true] : [either]) {
      play();
      let ran = 0;
      const call = {
        model: at(model),
        providerOptions: { ...options },
        stopWhen: stepCountIs(3),
        maxRetries: 0,
        tools: {
          weather: tool({
            inputSchema: z.object({ city: z.string() }),
            execute: () => {
              ran += 1;
              return "rain";
            },
          }),
        },
      };
      const messages: ModelMessage[] = [];
      for (const content of ["Weather?", "And now?"]) {
        messages.push({ role: "user", content });
        const answer = streamed
          ? streamText({ ...call, messages })
          : await generateText({ ...call, messages });
        expect([name, await answer.text]).toEqual([name, "It rains."]);
        messages.push(...(await answer.responseMessages));
      }
      expect([name, streamed, ran, vendor.refused]).toEqual([name, streamed, 2, []]);
      expect([name, streamed, thoughts()]).toEqual([name, streamed, expected]);
    }
  }
});

test.each(MODELS)("OpenAI's client goes on with %s, by references and by items", async (model) => {
  const tools = [
    { type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false },
  ];
  const call = { model, tools, reasoning: { effort: "high" as const } };
  const resultsOf = ({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseInputItem[] =>
    output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output", call_id: item.call_id, output: "rain" }]
        : [],
    );
  for (const streamed of [false, true]) {
    const ask = (more: object): Promise<OpenAI.Responses.Response> =>
      streamed
        ? openai.responses.stream({ ...call, ...more }).finalResponse()
        : openai.responses.create({ ...call, ...more });

    play();
    let previous_response_id: string | undefined;
    for (const input of ["Weather?", "And now?"]) {
      const called = await ask({ input, previous_response_id });
      const answer = await ask({ input: resultsOf(called), previous_response_id: called.id });
      expect(answer.output_text).toBe("It rains.");
      previous_response_id = answer.id;
    }
    expect([vendor.refused, thoughts()]).toEqual([[], RETURNED]);

    play();
    const carried = { store: false, include: ["reasoning.encrypted_content"] };
    const items: unknown[] = [];
    for (const content of ["Weather?", "And now?"]) {
      items.push({ role: "user", content });
      const called = await ask({ ...carried, input: items });
      items.push(...called.output, ...resultsOf(called));
      const answer = await ask({ ...carried, input: items });
      expect(answer.output_text).toBe("It rains.");
      items.push(...answer.output);
    }
    expect([vendor.refused, thoughts()]).toEqual([[], RETURNED]);
  }
});

test("thoughts that a client did not ask to see come back with the call that it refers to", async () => {
  for (const model of MODELS) {
    play();
    const tools = [
      { type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false },
    ];
    const call = { model, tools, reasoning: { effort: "high" as const } };
    const { output } = await openai.responses.create({ ...call, input: "Weather?" });
    const [item] = output;
    if (item?.type !== "function_call" || !item.id) throw new Error("no call with an id");
    const input = [
      { role: "user" as const, content: "Weather?" },
      { type: "item_reference" as const, id: item.id },
      { type: "function_call_output" as const, call_id: item.call_id, output: "rain" },
    ];
    expect((await openai.responses.create({ ...call, input })).output_text).toBe("It rains.");
    expect([vendor.refused, thoughts()]).toEqual([[], RETURNED.slice(0, 2)]);
  }
});

test("OpenAI's client goes on in chat mode, with the messages as they came", async () => {
  for (const model of MODELS) {
    play();
    const messages: OpenAI.ChatCompletionMessageParam[] = [];
    const tools = [{ type: "function" as const, function: { name: "weather" } }];
    for (const content of ["Weather?", "And now?"]) {
      messages.push({ role: "user", content });
      for (const turn of ["call", "answer"]) {
        const request = { model, messages, tools, reasoning_effort: "high" as const };
        const { choices } = await openai.chat.completions.create(request);
        const message = choices[0]?.message;
        if (!message) throw new Error("no answer");
        messages.push(message);
        for (const { id } of message.tool_calls ?? [])
          messages.push({ role: "tool", tool_call_id: id, content: "rain" });
        expect([turn, message.content]).toEqual([turn, turn === "call" ? null : "It rains."]);
      }
    }
    expect([vendor.refused, thoughts()]).toEqual([[], RETURNED]);
  }
});

test.each([false, true])("agents of OpenAI's kit go on (responses: %p)", async (useResponses) => {
  const runner = new Runner({
    tracingDisabled: true,
    modelProvider: new OpenAIProvider({ openAIClient: openai, useResponses }),
  });
  for (const model of MODELS) {
    play();
    const agent = new Agent({
      name: "forecaster",
      model,
      modelSettings: { reasoning: { effort: "high" } },
      tools: [
        agentTool({
          name: "weather",
          description: "Weather.",
          parameters: z.object({ city: z.string() }),
          execute: () => "rain",
        }),
      ],
    });
    const first = await runner.run(agent, "Weather?");
    const again = await runner.run(agent, [...first.history, { role: "user", content: "And now?" }]);
    expect([first.finalOutput, again.finalOutput, vendor.refused]).toEqual(["It rains.", "It rains.", []]);
    expect(vendor.seen).toHaveLength(4);
  }
});
