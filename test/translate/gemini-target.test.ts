import { describe, expect, test } from "bun:test";
import type { Pair } from "#gateway/translate/translate.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { bytesOf, eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

// Calls in other formats to a Gemini, by the format of its vendor.

const MESSAGES: Pair = { from: "messages", to: "gemini" };
const model = "gemini-3-flash";
const sent = (request: object, options: object = {}) =>
  jsonOf(translation(MESSAGES, { max_tokens: 100, ...request }, { model, ...options }).body);

const TOOLS = [
  { name: "weather", description: "Tells it.", input_schema: { type: "object" }, strict: true },
  { name: "clock", input_schema: { type: "object", additionalProperties: false } },
];
const CONVERSATION = [
  { role: "user", content: "Weather?" },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "" },
      { type: "text", text: "Both." },
      { type: "tool_use", id: "a", name: "weather", input: { city: "A" } },
      { type: "tool_use", id: "b", name: "clock", input: {} },
    ],
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "a", content: "rain" },
      {
        type: "tool_result",
        tool_use_id: "b",
        is_error: true,
        content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }],
      },
      { type: "text", text: "And?" },
    ],
  },
];

describe("a request", () => {
  test("has its turns, calls, results and images", () => {
    expect(
      sent({ system: "Be short.", messages: CONVERSATION, tools: TOOLS, tool_choice: { type: "any" } }),
    ).toEqual({
      systemInstruction: { parts: [{ text: "Be short." }] },
      contents: [
        { role: "user", parts: [{ text: "Weather?" }] },
        {
          role: "model",
          parts: [
            { text: "Both." },
            {
              functionCall: { id: "a", name: "weather", args: { city: "A" } },
              thoughtSignature: "skip_thought_signature_validator",
            },
            { functionCall: { id: "b", name: "clock", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "a", name: "weather", response: { output: "rain" } } },
            {
              functionResponse: {
                id: "b",
                name: "clock",
                response: { error: "The result is in the next part." },
              },
            },
            { inlineData: { mimeType: "image/png", data: "aGk=" } },
            { text: "And?" },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: "weather", description: "Tells it.", parametersJsonSchema: { type: "object" } },
            { name: "clock", parametersJsonSchema: { type: "object", additionalProperties: false } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY" } },
      generationConfig: { maxOutputTokens: 100 },
    });
  });

  test.each([
    ["gemini-3-flash", { effort: "low" }, { thinkingLevel: "low" }],
    ["gemini-3-pro", { effort: "medium" }, { thinkingLevel: "high" }],
    ["gemini-3.1-pro", { effort: "max" }, { thinkingLevel: "high" }],
    ["gemini-2.5-flash", { effort: "medium" }, { thinkingBudget: 8192 }],
    ["gemini-2.0-flash", { effort: "medium" }, undefined],
  ])("to %s asks for %p", (name, output_config, thinkingConfig) => {
    const messages = [{ role: "user", content: "Hi" }];
    expect(sent({ messages, output_config }, { model: name })).toMatchObject({
      generationConfig: { maxOutputTokens: 100, ...(thinkingConfig && { thinkingConfig }) },
    });
  });

  test("has the names of documents, also of those that consist of blocks", () => {
    const source = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
    const blocks = { type: "content", content: [{ type: "text", text: "Dry." }] };
    const content = [
      { type: "document", title: "report.pdf", source },
      { type: "document", title: "Weather", source: blocks },
    ];
    expect(sent({ messages: [{ role: "user", content }] })).toMatchObject({
      contents: [
        {
          parts: [
            { text: "report.pdf" },
            { inlineData: { mimeType: "application/pdf", data: "JVBERi0=" } },
            { text: "Weather" },
            { text: "Dry." },
          ],
        },
      ],
    });
  });

  test("has the wishes of other formats under Google's names", () => {
    const messages = [{ role: "user", content: "Hi" }];
    expect(sent({ messages, top_k: 40 })).toMatchObject({
      generationConfig: { maxOutputTokens: 100, topK: 40 },
    });
    const wishes = { seed: 7, top_k: 3, presence_penalty: 0.5, frequency_penalty: 0 };
    const translated = translation({ from: "chat", to: "gemini" }, { messages, ...wishes }, { model });
    expect(jsonOf(translated.body)).toMatchObject({
      generationConfig: { seed: 7, topK: 3, presencePenalty: 0.5 },
    });
    expect([...translated.dropped.keys()]).toEqual(["frequency_penalty"]);
  });

  test("asks for thoughts where its client shows them, and for JSON by a schema", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    const thinking = { type: "enabled", budget_tokens: 2000 };
    const messages = [{ role: "user", content: "Hi" }];
    expect(
      sent({ messages, thinking, output_config: { format } }, { model: "gemini-2.5-pro" }),
    ).toMatchObject({
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object" },
        thinkingConfig: { thinkingBudget: 2000, includeThoughts: true },
      },
    });
    // Models before Gemini 3 take no JSON answer beside functions, so it is a function too.
    const beside = sent({ messages, tools: TOOLS, output_config: { format } }, { model: "gemini-2.5-pro" });
    expect(beside).not.toHaveProperty("generationConfig.responseMimeType");
    expect(JSON.stringify(beside)).toContain("json_answer");
  });
});

const answer = (parts: object[], more: object = { finishReason: "STOP" }) => ({
  responseId: "r1",
  modelVersion: model,
  candidates: [{ content: { role: "model", parts }, ...more }],
});
const ask = { max_tokens: 100, messages: [{ role: "user", content: "Hi" }], tools: TOOLS };

describe("an answer", () => {
  test("has its text and calls, whole and streamed", () => {
    const parts = [
      { text: "Let me see.", thought: true },
      { text: "It " },
      { text: "rains." },
      { functionCall: { name: "weather", args: { city: "A" } }, thoughtSignature: "c2ln" },
      { functionCall: { id: "own", name: "clock" } },
    ];
    const translated = () => translation(MESSAGES, ask, { model });
    const whole = jsonOf(translated().answer(bytesOf(answer(parts)), NO_USAGE)) as { content: object[] };
    expect(whole).toMatchObject({
      id: "r1",
      stop_reason: "tool_use",
      content: [
        { type: "text", text: "It rains." },
        { type: "tool_use", id: "call_r1_1", name: "weather", input: { city: "A" } },
        { type: "tool_use", id: "own", name: "clock", input: {} },
      ],
    });
    const events = parts.map((part, index) => answer([part], index === 4 ? { finishReason: "STOP" } : {}));
    const sse = relayed(MESSAGES, translated(), [new TextEncoder().encode(sseOf(events))]);
    const types = eventsIn(sse).map(({ event }) => event);
    expect(types.filter((type) => type === "content_block_start")).toHaveLength(3);
    expect(types.at(-1)).toBe("message_stop");
  });

  test.each([
    [answer([{ text: "It" }], { finishReason: "MAX_TOKENS" }), "max_tokens"],
    [answer([], { finishReason: "SAFETY" }), "refusal"],
    [{ responseId: "r1", promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, "refusal"],
  ])("%j stops by %s", (given, stop_reason) => {
    expect(jsonOf(translation(MESSAGES, ask, { model }).answer(bytesOf(given), NO_USAGE))).toMatchObject({
      stop_reason,
    });
  });

  test("that breaks off, or is an error, is none", () => {
    const translated = translation(MESSAGES, ask, { model });
    expect(translated.answer(bytesOf(answer([{ text: "It" }], {})), NO_USAGE)).toBeNull();
    const error = { error: { code: 429, message: "Slowly.", status: "RESOURCE_EXHAUSTED" } };
    const sse = relayed(MESSAGES, translated, [new TextEncoder().encode(sseOf([error]))]);
    expect(sse).toContain('"type":"rate_limit_error","message":"Slowly."');
  });
});
