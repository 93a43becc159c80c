import { afterAll, beforeAll, expect, test } from "bun:test";
import { LLMock } from "@copilotkit/aimock";
import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { newId } from "#shared/ids.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Clients that send back what they got, and ask for what only their own vendor has, at a model of another vendor.

let mock: LLMock;
let gateway: WiredGateway;

beforeAll(async () => {
  mock = await LLMock.create({ port: 0, chunkSize: 6 });
  mock.on({ toolCallId: "toolu_1" }, { content: "It rains." });
  mock.on(
    { userMessage: "weather" },
    {
      content: "Let me look.",
      toolCalls: [{ name: "get_weather", arguments: '{"city":"Oslo"}', id: "toolu_1" }],
    },
  );
  mock.on({ userMessage: "greet" }, { content: "Hello." });
  gateway = await wiredGateway({ chat: `${mock.url}/v1`, messages: mock.url });
});

afterAll(async () => {
  await mock.stop();
});

const ask = (body: object, session = newId()) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      "x-session-id": session,
      "content-type": "application/json",
    },
    body: JSON.stringify({ messages: [{ role: "user", content: "greet" }], ...body }),
  });

test("what is left out is counted in the answer's header and in the record", async () => {
  const session = newId();
  const named = [{ role: "user", name: "ann", content: "greet" }];
  for (const stream of [false, true]) {
    const answer = await ask({ model: "claude", seed: 7, messages: named, stream }, session);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-gateway-dropped")).toBe("2;messages.name;seed");
    await answer.text();
  }
  const plain = await ask({ model: "claude" }, session);
  expect(plain.headers.get("x-gateway-dropped")).toBeNull();
  await plain.text();
  await (await ask({ model: "chat", seed: 7 }, session)).text();
  const records = await gateway.records(session, 4);
  expect(records.map(({ dropped_members }) => dropped_members)).toEqual([2, 2, 0, null]);
});

test("what changes the answer is refused, unless the route says `inexpressible: drop`", async () => {
  const refused = await ask({ model: "claude", logprobs: true });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("`logprobs`")]);
  await gateway.admin("PUT", "/routes/tolerant", {
    surface: "chat",
    provider: "messages-vendor",
    model: "claude-opus-4-6",
    inexpressible: "drop",
  });
  const answer = await ask({ model: "tolerant", logprobs: true, n: 2 });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-gateway-dropped")).toBe("2;logprobs;n");
});

test.each([false, true])(
  "agents of OpenAI's kit go on in chat mode after a tool (streamed: %p)",
  async (stream) => {
    const ran: unknown[] = [];
    const agent = new Agent({
      name: "forecaster",
      model: "claude",
      tools: [
        tool({
          name: "get_weather",
          description: "Weather.",
          strict: false,
          parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
          execute: (input) => {
            ran.push(input);
            return "rain";
          },
        }),
      ],
    });
    const runner = new Runner({
      tracingDisabled: true,
      modelProvider: new OpenAIProvider({
        apiKey: gateway.secret,
        baseURL: `${gateway.url}/v1`,
        useResponses: false,
      }),
    });
    const first = stream
      ? await runner.run(agent, "weather", { stream: true })
      : await runner.run(agent, "weather");
    if ("completed" in first) await first.completed;
    expect([first.finalOutput, ran]).toEqual(["It rains.", [{ city: "Oslo" }]]);
    const again = await runner.run(agent, [...first.history, { role: "user", content: "greet" }]);
    expect(again.finalOutput).toBe("Hello.");
  },
);
