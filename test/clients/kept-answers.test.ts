import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { LLMock } from "@copilotkit/aimock";
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { openDatabase } from "#drizzle/database.ts";
import { deleteExpiredAnswers } from "#gateway/stores/kept-answers.ts";
import { newId } from "#shared/ids.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Clients of the responses format keep nothing by default: they refer to what they got before. Here the model speaks
// another format, so the gateway puts in place what they refer to.

let mock: LLMock;
let gateway: WiredGateway;

const CANARY = "canary-of-a-prompt";
const ANSWER = "canary-of-an-answer";

beforeAll(async () => {
  mock = await LLMock.create({ port: 0, chunkSize: 6 });
  for (const id of ["toolu_1", "call_1"]) mock.on({ toolCallId: id }, { content: `It rains. ${ANSWER}` });
  mock.on({ userMessage: "weather", model: /^claude/ }, weather("toolu_1"));
  mock.on({ userMessage: "weather", model: /^gpt/ }, weather("call_1"));
  mock.on({ userMessage: "thanks" }, { content: "You are welcome." });
  mock.on({ userMessage: "again" }, { content: "Once more." });
  gateway = await wiredGateway({ chat: `${mock.url}/v1`, messages: mock.url });
  await gateway.admin("PUT", "/providers/older", {
    kind: "openai-compatible",
    base_url: `${mock.url}/v1`,
    responses: false,
    allow_private_network: true,
    enabled: true,
  });
  await gateway.admin("PUT", "/routes/older", { surface: "chat", provider: "older", model: "gpt-4o" });
});

afterAll(async () => {
  await mock.stop();
});

const weather = (id: string) => ({
  content: "Let me look.",
  toolCalls: [{ name: "get_weather", arguments: '{"city":"Oslo"}', id }],
});

const tools = {
  get_weather: tool({
    description: "Weather.",
    inputSchema: jsonSchema<object>({ type: "object", properties: { city: { type: "string" } } }),
    execute: () => "rain",
  }),
};

const openai = (secret = gateway.secret) =>
  new OpenAI({ apiKey: secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

/** What the provider was sent last, as the texts and calls in it, whatever the format. */
const sentLast = (): string => JSON.stringify(mock.getLastRequest()?.body);

describe.each(["claude", "older"])(
  "the ai sdk's default model at a model of another format (%s):",
  (model) => {
    test.each([false, true])("turns after a tool loop know what was said (streamed: %p)", async (stream) => {
      const sdk = createOpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1` });
      const messages: ModelMessage[] = [];
      const turn = async (content: string) => {
        messages.push({ role: "user", content });
        const call = { model: sdk(model), tools, messages, stopWhen: stepCountIs(3), maxRetries: 0 };
        if (stream) {
          const streamed = streamText(call);
          const text = await streamed.text;
          messages.push(...(await streamed.responseMessages));
          return text;
        }
        const whole = await generateText(call);
        messages.push(...whole.responseMessages);
        return whole.text;
      };
      expect(await turn(`weather ${CANARY}`)).toBe(`It rains. ${ANSWER}`);
      expect(await turn("thanks")).toBe("You are welcome.");
      expect(await turn("again")).toBe("Once more.");
      for (const said of ["Let me look.", "get_weather", ANSWER, "You are welcome."]) {
        expect(sentLast()).toContain(said);
      }
    });
  },
);

describe("previous_response_id", () => {
  test.each([false, true])("continues the whole conversation (streamed: %p)", async (stream) => {
    const create = async (input: string | OpenAI.Responses.ResponseInput, previous?: string) => {
      const body = { model: "claude", input, previous_response_id: previous ?? null };
      return stream ? openai().responses.stream(body).finalResponse() : openai().responses.create(body);
    };
    const first = await create(`weather ${CANARY}`);
    const outputs = first.output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "rain" }]
        : [],
    );
    const second = await create(outputs, first.id);
    expect(second.output_text).toBe(`It rains. ${ANSWER}`);
    const third = await create("thanks", second.id);
    expect(third.output_text).toBe("You are welcome.");
    for (const said of [CANARY, "Let me look.", "get_weather", "rain", ANSWER, "thanks"]) {
      expect(sentLast()).toContain(said);
    }
  });

  test("continues an answer whose question referred to single items", async () => {
    const create = (input: OpenAI.Responses.ResponseInput, previous?: string) =>
      openai().responses.create({ model: "claude", input, previous_response_id: previous ?? null });
    const first = await create([{ role: "user", content: "thanks" }]);
    const [said] = first.output;
    const referred = { type: "item_reference", id: said?.id ?? "" } as const;
    const second = await create([referred, { role: "user", content: `again ${CANARY}` }]);
    const third = await create([{ role: "user", content: "thanks" }], second.id);
    expect(third.output_text).toBe("You are welcome.");
    for (const text of ["You are welcome.", CANARY, "Once more."]) expect(sentLast()).toContain(text);
  });

  test("of another key, of `store: false` or unknown is a 400 that names it", async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: newId() });
    const kept = await openai().responses.create({ model: "claude", input: "thanks" });
    const unkept = await openai().responses.create({ model: "claude", input: "thanks", store: false });
    expect([kept, unkept]).toMatchObject([{ store: true }, { store: false }]);
    for (const [key, previous] of [
      [secret, kept.id],
      [gateway.secret, unkept.id],
      [gateway.secret, "resp_tly0000"],
      [gateway.secret, "resp_of_another_vendor"],
    ] as const) {
      const refused = await openai(key)
        .responses.create({ model: "claude", input: "again", previous_response_id: previous })
        .catch((error: unknown) => error);
      expect(refused).toMatchObject({
        status: 400,
        message: expect.stringContaining("previous_response_id"),
      });
    }
  });
});

test("what is kept is sealed for its key, is used for an hour longer, and is deleted", async () => {
  const { id } = await openai().responses.create({ model: "claude", input: `thanks ${CANARY}` });
  const token = id.slice("resp_".length);
  const rows = () => gateway.sql`select * from kept_answers where id = ${token}`;
  const [row] = await rows();
  expect(JSON.stringify(row)).not.toMatch(new RegExp(`${CANARY}|welcome`));
  const leftMs = () => rows().then(([one]) => new Date(one?.["expires_at"]).getTime() - Date.now());
  expect(await leftMs()).toBeWithin(3_500_000, 3_600_001);

  await gateway.sql`update kept_answers set expires_at = now() + interval '10 minutes' where id = ${token}`;
  const next = { model: "claude", input: "again", previous_response_id: id } as const;
  expect((await openai().responses.create(next)).output_text).toBe("Once more.");
  expect(await leftMs()).toBeWithin(3_500_000, 3_600_001);

  await gateway.sql`update kept_answers set expires_at = now() - interval '1 second' where id = ${token}`;
  const refused = await openai()
    .responses.create(next)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 400 });
  const database = openDatabase(gateway.databaseUrl, { name: "sweep", max: 1, statementTimeoutMs: 5000 });
  await deleteExpiredAnswers(database);
  await database.close();
  expect(await rows()).toHaveLength(0);
});
