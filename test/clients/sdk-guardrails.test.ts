import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The official clients, with their own retries, before a rule that refuses softly and one that blocks.

const SAID = 'That may not leave the house. "Grüße" 👋';

let upstream: ScriptedUpstream;
let gateway: WiredGateway;

beforeAll(async () => {
  upstream = await scriptedUpstream((_, reply) =>
    reply.json({ error: { message: "not to be called" } }, 500),
  );
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  const rule = { match: { tags: ["soft"] }, action: "soft_deny", message: SAID };
  await gateway.admin("PUT", "/guardrails/soft", rule);
  await gateway.admin("PUT", "/guardrails/hard", { match: { tags: ["hard"] }, message: "Not here." });
});

afterAll(async () => {
  expect(upstream.seen).toEqual([]);
});

function clients(tag: string) {
  const session = newId();
  const defaultHeaders = { "x-session-id": session, "x-tags": tag };
  let tries = 0;
  const counted = ((input: Request | string | URL, init?: RequestInit) => {
    tries += 1;
    return fetch(input, init);
  }) as typeof fetch;
  const openai = new OpenAI({
    apiKey: gateway.secret,
    baseURL: `${gateway.url}/v1`,
    defaultHeaders,
    fetch: counted,
  });
  const anthropic = new Anthropic({
    apiKey: gateway.secret,
    baseURL: gateway.url,
    defaultHeaders,
    fetch: counted,
  });
  const ai = createOpenAI({
    apiKey: gateway.secret,
    baseURL: `${gateway.url}/v1`,
    headers: defaultHeaders,
    fetch: counted,
  });
  return { openai, anthropic, ai, session, tries: () => tries };
}

const chat = { model: "chat", messages: [{ role: "user" as const, content: "hello" }] };
const message = { model: "claude", max_tokens: 9, messages: [{ role: "user" as const, content: "hello" }] };

async function recordOf(session: string) {
  const [record] = await gateway.records(session);
  const rows = await gateway.sql<{ guardrail: string }[]>`
    select guardrail from requests where session = ${session}`;
  return { ...record, guardrail: rows[0]?.guardrail };
}

describe("a refusal that is soft is an ordinary answer to the official client, got at the first try", () => {
  test("of chat completions", async () => {
    const { openai, session, tries } = clients("soft");
    const { data, response } = await openai.chat.completions.create(chat).withResponse();
    expect(response.headers.get("x-gateway-guardrail")).toBe("soft-deny");
    expect(data.choices[0]).toMatchObject({ message: { content: SAID }, finish_reason: "stop" });
    expect(data.usage).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
    expect(tries()).toBe(1);
    expect(await recordOf(session)).toMatchObject({
      state: "denied",
      status: 200,
      error_type: null,
      guardrail: "soft",
      attempts: 0,
      cost_usd: "0",
      unpriced: false,
    });
  });

  test("of streamed chat completions", async () => {
    const { openai, tries } = clients("soft");
    const stream = openai.chat.completions.stream({ ...chat, stream_options: { include_usage: true } });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({ message: { content: SAID }, finish_reason: "stop" });
    expect(usage?.total_tokens).toBe(0);
    expect(tries()).toBe(1);
  });

  test("of messages", async () => {
    const { anthropic, session, tries } = clients("soft");
    const { data, response } = await anthropic.messages.create(message).withResponse();
    expect(response.headers.get("x-gateway-guardrail")).toBe("soft-deny");
    expect(data).toMatchObject({ content: [{ type: "text", text: SAID }], stop_reason: "end_turn" });
    expect(data.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
    expect(tries()).toBe(1);
    expect(await recordOf(session)).toMatchObject({ state: "denied", guardrail: "soft" });
  });

  test("of streamed messages", async () => {
    const { anthropic, tries } = clients("soft");
    const final = await anthropic.messages.stream(message).finalMessage();
    expect(final).toMatchObject({ content: [{ type: "text", text: SAID }], stop_reason: "end_turn" });
    expect(final.usage.output_tokens).toBe(0);
    expect(tries()).toBe(1);
  });

  test("of responses, plain and streamed", async () => {
    const { openai, tries } = clients("soft");
    const plain = await openai.responses.create({ model: "chat", input: "hello" });
    expect([plain.output_text, plain.status, plain.usage?.total_tokens]).toEqual([SAID, "completed", 0]);
    const streamed = await openai.responses.stream({ model: "chat", input: "hello" }).finalResponse();
    expect([streamed.output_text, streamed.status]).toEqual([SAID, "completed"]);
    expect(tries()).toBe(2);
  });

  test("to the AI SDK", async () => {
    const { ai, tries } = clients("soft");
    expect((await generateText({ model: ai.chat("chat"), prompt: "hello" })).text).toBe(SAID);
    expect(await streamText({ model: ai.chat("chat"), prompt: "hello" }).text).toBe(SAID);
    expect(await streamText({ model: ai.responses("chat"), prompt: "hello" }).text).toBe(SAID);
    expect(tries()).toBe(3);
  });
});

describe("a block is final", () => {
  test("to a client of chat completions", async () => {
    const { openai, session, tries } = clients("hard");
    const error = await openai.chat.completions.create(chat).catch((it: unknown) => it);
    expect(error).toMatchObject({ status: 403, type: "guardrail_blocked" });
    expect(tries()).toBe(1);
    expect(await recordOf(session)).toMatchObject({
      state: "denied",
      status: 403,
      error_type: "guardrail_blocked",
      guardrail: "hard",
    });
  });

  test("to a client of messages", async () => {
    const { anthropic, tries } = clients("hard");
    const error = await anthropic.messages.create(message).catch((it: unknown) => it);
    expect(error).toMatchObject({
      status: 403,
      error: { error: { type: "guardrail_blocked", message: "Not here." } },
    });
    expect(tries()).toBe(1);
  });

  test("where an answer is no text, even if the rule is soft", async () => {
    const { openai, anthropic, tries } = clients("soft");
    const speech = { model: "tts", input: "hello", voice: "alloy" };
    for (const asked of [
      () => openai.audio.speech.create(speech),
      () => openai.images.generate({ model: "image_generation", prompt: "hello" }),
      () => anthropic.messages.countTokens({ model: "claude", messages: message.messages }),
    ]) {
      expect(await asked().catch((it: unknown) => it)).toMatchObject({ status: 403 });
    }
    expect(tries()).toBe(3);
  });
});
