import { beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let play: (reply: Reply, request: SeenRequest) => void = () => undefined;

beforeAll(async () => {
  upstream = await scriptedUpstream((request, reply) => play(reply, request));
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

const client = (session: string) =>
  new OpenAI({
    apiKey: gateway.secret,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: { "x-session-id": session },
  });
const usage = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };
const completion = (text: string, finish_reason: string | null) => ({
  id: "c",
  object: "text_completion",
  model: "gpt-3.5-turbo-instruct",
  choices: [{ index: 0, text, finish_reason }],
});
const metered = { surface: "completions", state: "ok", input_tokens: 4, output_tokens: 3, unpriced: false };

test("OpenAI's older completions go to a provider that has them, and are metered", async () => {
  const session = newId();
  play = (reply) => reply.json({ ...completion("Hello", "stop"), usage });
  const request = { model: "gpt-3.5-turbo-instruct", prompt: "Say hello." };
  const answer = await client(session).completions.create(request);
  expect(answer.choices[0]?.text).toBe("Hello");
  const seen = upstream.seen.at(-1);
  expect([seen?.path, JSON.parse(seen?.body ?? "")]).toEqual(["/v1/completions", request]);
  expect((await gateway.records(session))[0]).toMatchObject(metered);
});

test("and so is a stream, whose usage is asked for and withheld", async () => {
  const session = newId();
  play = (reply) => {
    reply.head("text/event-stream");
    const events = [
      completion("Hel", null),
      completion("lo", "stop"),
      { ...completion("", null), choices: [], usage },
    ];
    reply.chunk(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`);
    reply.end();
  };
  const request = { model: "gpt-3.5-turbo-instruct", prompt: "Say hello.", stream: true } as const;
  const texts: (string | undefined)[] = [];
  for await (const { choices } of await client(session).completions.create(request))
    texts.push(choices[0]?.text);
  expect(texts).toEqual(["Hel", "lo"]);
  const { stream_options } = JSON.parse(upstream.seen.at(-1)?.body ?? "");
  expect(stream_options).toEqual({ include_usage: true });
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ ...metered, streamed: true });
  expect(row?.ttft_ms).not.toBeNull();
});

test("a provider that refuses stream_options is not sent them, once that is set", async () => {
  await gateway.admin("PATCH", "/providers/chat-vendor", { stream_options: false });
  play = (reply) => {
    reply.head("text/event-stream");
    reply.chunk("data: [DONE]\n\n");
    reply.end();
  };
  const messages = [{ role: "user" as const, content: "Hello" }];
  for await (const _ of await client(newId()).chat.completions.create({
    model: "gpt-4o",
    messages,
    stream: true,
  }));
  expect(JSON.parse(upstream.seen.at(-1)?.body ?? "").stream_options).toBeUndefined();
  await gateway.admin("PATCH", "/providers/chat-vendor", { stream_options: null });
});

test("the built-in provider answers them, too", async () => {
  const answer = await client(newId()).completions.create({ model: "echo", prompt: "Say hello." });
  expect(answer.choices[0]?.text).toBe("Say hello.");
});
