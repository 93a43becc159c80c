import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI, Type } from "@google/genai";
import { newId } from "#shared/ids.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Google's own client at the gateway, with models of other vendors behind the routes.

let vendor: ScriptedUpstream;
let gateway: WiredGateway;
let play: (request: SeenRequest, reply: Reply) => void;

beforeAll(async () => {
  vendor = await scriptedUpstream((request, reply) => play(request, reply));
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
});
beforeEach(() => {
  vendor.seen.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await vendor.close();
});

const client = (session = newId()) =>
  new GoogleGenAI({
    apiKey: gateway.secret,
    httpOptions: { baseUrl: gateway.url, headers: { "x-session-id": session } },
  });
const bodyOf = (index: number) => JSON.parse(vendor.seen[index]?.body ?? "");

const CHAT_USAGE = {
  prompt_tokens: 30,
  completion_tokens: 12,
  total_tokens: 42,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 4 },
};
const completion = (message: object, finish_reason = "stop") => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  model: "gpt-4o",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
  usage: CHAT_USAGE,
});
const message = (content: object[], stop_reason = "end_turn") => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-4-6",
  content,
  stop_reason,
  usage: { input_tokens: 30, output_tokens: 12 },
});

const parametersOf = {
  type: Type.OBJECT,
  properties: {
    city: { type: Type.STRING, nullable: true },
    days: { type: Type.ARRAY, items: { type: Type.INTEGER }, maxItems: "3" },
  },
  required: ["city"],
};
const SCHEMA = {
  type: "object",
  properties: {
    city: { type: ["string", "null"] },
    days: { type: "array", items: { type: "integer" }, maxItems: 3 },
  },
  required: ["city"],
};
const TOOLS = [
  { functionDeclarations: [{ name: "weather", description: "Tells it.", parameters: parametersOf }] },
];
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("a call in Gemini's format to a model of the chat format", () => {
  test("says the same there, and the answer is the same here", async () => {
    const session = newId();
    play = (_, reply) => reply.json(completion({ content: "It rains." }));
    const answer = await client(session).models.generateContent({
      model: "chat",
      contents: [
        {
          role: "user",
          parts: [{ text: "Weather?" }, { inlineData: { mimeType: "image/png", data: PIXEL } }],
        },
      ],
      config: {
        systemInstruction: "Be brief.",
        temperature: 0.5,
        topP: 0.9,
        topK: 64,
        maxOutputTokens: 100,
        stopSequences: ["END"],
        responseMimeType: "application/json",
        responseSchema: parametersOf,
      },
    });
    expect(bodyOf(0)).toEqual({
      model: "gpt-4o",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Weather?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
          ],
        },
      ],
      max_completion_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      response_format: { type: "json_schema", json_schema: { name: "output", schema: SCHEMA } },
    });
    expect(answer.text).toBe("It rains.");
    expect(answer.candidates?.[0]?.finishReason as string).toBe("STOP");
    expect(answer.usageMetadata).toEqual({
      promptTokenCount: 30,
      cachedContentTokenCount: 10,
      candidatesTokenCount: 8,
      thoughtsTokenCount: 4,
      totalTokenCount: 42,
    });
    expect([answer.responseId, answer.modelVersion]).toEqual(["chatcmpl-1", "gpt-4o"]);
    expect(answer.sdkHttpResponse?.headers?.["x-gateway-dropped"]).toBe("1;generationconfig.topk");
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ state: "ok", input_tokens: 30, output_tokens: 12, dropped_members: 1 });
  });

  test("streams text and calls", async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: "chatcmpl-1", model: "gpt-4o", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    play = (_, reply) => {
      reply.head("text/event-stream");
      reply.chunk(chunk({ role: "assistant", content: "Let me " }) + chunk({ content: "see." }));
      const call = { index: 0, id: "call_9", type: "function", function: { name: "weather", arguments: "" } };
      reply.chunk(chunk({ tool_calls: [call] }));
      reply.chunk(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }));
      reply.chunk(chunk({ tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] }));
      reply.chunk(chunk({}, "tool_calls"));
      reply.chunk(
        `data: ${JSON.stringify({ id: "chatcmpl-1", choices: [], usage: CHAT_USAGE })}\n\ndata: [DONE]\n\n`,
      );
      reply.end();
    };
    const chunks = await all(
      await client().models.generateContentStream({
        model: "chat",
        contents: "Weather?",
        config: { tools: TOOLS },
      }),
    );
    expect(chunks.map(({ text }) => text ?? "").join("")).toBe("Let me see.");
    expect(chunks.flatMap(({ functionCalls }) => functionCalls ?? [])).toEqual([
      { id: "call_9", name: "weather", args: { city: "Bern" } },
    ]);
    const last = chunks.at(-1);
    expect([last?.candidates?.[0]?.finishReason as string, last?.usageMetadata?.totalTokenCount]).toEqual([
      "STOP",
      42,
    ]);
    expect(bodyOf(0)).toMatchObject({
      stream: true,
      tools: [{ function: { name: "weather", parameters: SCHEMA } }],
    });
  });

  test("joins responses to their calls, with ids and without", async () => {
    play = (_, reply) => reply.json(completion({ content: "Done." }));
    const call = (id?: string) => ({ functionCall: { name: "weather", args: {}, ...(id && { id }) } });
    const response = (output: string, id?: string) => ({
      functionResponse: { name: "weather", response: { output }, ...(id && { id }) },
    });
    const contents: Content[] = [
      { role: "user", parts: [{ text: "x" }] },
      { role: "model", parts: [call("a"), call(), call()] },
      {
        role: "user",
        parts: [response("first", "a"), response("second"), response("third", "numbered by the client")],
      },
    ];
    await client().models.generateContent({ model: "chat", contents, config: { tools: TOOLS } });
    const { messages } = bodyOf(0);
    const ids = messages[1].tool_calls.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(messages.slice(2)).toEqual(
      ["first", "second", "third"].map((content, index) => ({
        role: "tool",
        tool_call_id: ids[index],
        content,
      })),
    );
  });

  test("is refused by name where the format has no place for it", async () => {
    const refused = async (request: object) => {
      const thrown: unknown = await client()
        .models.generateContent({ model: "chat", contents: "x", ...request })
        .catch((error) => error);
      if (!(thrown instanceof ApiError)) throw new Error("no error of the API");
      return JSON.parse(thrown.message).error;
    };
    for (const [request, name] of [
      [{ config: { cachedContent: "cachedContents/1" } }, "cachedContent"],
      [{ config: { candidateCount: 2 } }, "generationConfig.candidateCount"],
      [{ config: { tools: [{ googleSearch: {} }] } }, "tools[0].googleSearch"],
      [
        {
          contents: [{ role: "user", parts: [{ fileData: { fileUri: "gs://x/y", mimeType: "image/png" } }] }],
        },
        "contents[0].parts[0].fileData.fileUri",
      ],
      [
        { contents: [{ role: "user", parts: [{ inlineData: { mimeType: "video/mp4", data: "AA==" } }] }] },
        "inlineData",
      ],
    ] as const) {
      const error = await refused(request);
      expect([error.status, error.message]).toEqual(["INVALID_ARGUMENT", expect.stringContaining(name)]);
    }
    expect(vendor.seen).toEqual([]);
  });

  test("gets the vendor's refusal in Google's shape", async () => {
    play = (_, reply) => reply.json({ error: { message: "Slow down.", type: "rate_limit_error" } }, 429);
    const thrown: unknown = await client()
      .models.generateContent({ model: "chat", contents: "x" })
      .catch((error) => error);
    expect(JSON.parse((thrown as ApiError).message).error).toEqual({
      code: 429,
      message: "Slow down.",
      status: "RESOURCE_EXHAUSTED",
    });
  });
});

describe("a call in Gemini's format to a model of the messages format", () => {
  test("carries its signed reasoning there and back in the call's signature", async () => {
    const thinking = { type: "thinking", thinking: "Hm, Bern.", signature: "c2lnbmVk" };
    const use = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Bern" } };
    play = ({ body }, reply) =>
      reply.json(
        body.includes("tool_result")
          ? message([{ type: "text", text: "Rain." }])
          : message([thinking, use], "tool_use"),
      );
    const chat = client().chats.create({
      model: "claude",
      config: { tools: TOOLS, thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 } },
    });
    const first = await chat.sendMessage({ message: "Weather in Bern?" });
    const parts = first.candidates?.[0]?.content?.parts ?? [];
    expect(parts[0]).toEqual({ text: "Hm, Bern.", thought: true });
    expect([parts[1]?.functionCall?.name, typeof parts[1]?.thoughtSignature]).toEqual(["weather", "string"]);
    const functionResponse = { id: "toolu_1", name: "weather", response: { output: "rain" } };
    expect((await chat.sendMessage({ message: [{ functionResponse }] })).text).toBe("Rain.");
    const { messages, thinking: asked } = bodyOf(1);
    expect(messages[1].content).toEqual([thinking, expect.objectContaining({ ...use })]);
    expect(messages[2].content).toEqual([
      { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "rain" }] },
    ]);
    expect(asked).toBeDefined();
  });

  test("streams, and does not show thoughts to who did not ask", async () => {
    const events = [
      { type: "message_start", message: message([]) },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "It " } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "rains." } },
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 12 } },
      { type: "message_stop" },
    ];
    play = (_, reply) => {
      reply.head("text/event-stream");
      for (const one of events) reply.chunk(`event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`);
      reply.end();
    };
    const session = newId();
    const chunks = await all(
      await client(session).models.generateContentStream({ model: "claude", contents: "x" }),
    );
    expect(JSON.stringify(chunks)).not.toContain("Hm.");
    expect(chunks.map(({ text }) => text ?? "").join("")).toBe("It rains.");
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason as string).toBe("MAX_TOKENS");
    expect(chunks.at(-1)?.usageMetadata?.promptTokenCount).toBe(30);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ state: "ok", streamed: true, input_tokens: 30, output_tokens: 12 });
  });

  test("counts tokens by an estimate", async () => {
    const { totalTokens } = await client().models.countTokens({
      model: "claude",
      contents: "Hello there, how are you?",
    });
    expect(totalTokens).toBeGreaterThan(5);
    expect(vendor.seen).toEqual([]);
  });
});

async function all(stream: AsyncIterable<GenerateContentResponse>): Promise<GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
