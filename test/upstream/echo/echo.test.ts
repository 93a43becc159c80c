import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { streamMeter } from "#gateway/metering/meter.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import { echoFetch } from "#gateway/upstream/echo/echo.ts";

const utf8 = new TextEncoder();
const ask = (surface: "chat.completions" | "messages", body: unknown) =>
  echoFetch({ surface, bytes: utf8.encode(JSON.stringify(body)) });

/** The vendors' own clients, with the built-in provider as their network. */
const fetchOf = (surface: "chat.completions" | "messages") => async (_: unknown, init?: RequestInit) =>
  echoFetch({ surface, bytes: utf8.encode(String(init?.body)) });
const openai = new OpenAI({
  apiKey: "k",
  baseURL: "http://echo.invalid/v1",
  fetch: fetchOf("chat.completions") as typeof fetch,
});
const anthropic = new Anthropic({
  apiKey: "k",
  baseURL: "http://echo.invalid",
  fetch: fetchOf("messages") as typeof fetch,
});

const ASKED = "Is it raining in Bern? 🌧️";
const messages = [{ role: "user" as const, content: ASKED }];
// 23 code points of text and the cloud's two: 25, so 7 tokens of 4.
const TOKENS = Math.ceil([...ASKED].length / 4);

describe("chat completions", () => {
  test("the vendor's client reads the last user text and honest counts", async () => {
    const answer = await openai.chat.completions.create({
      model: "echo",
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "x" }, ...messages],
    });
    expect(answer.choices[0]?.message.content).toBe(ASKED);
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    // "Be brief." is 9 code points: 3 tokens; "x" is 1.
    expect(answer.usage).toMatchObject({
      prompt_tokens: 4 + TOKENS,
      completion_tokens: TOKENS,
      total_tokens: 4 + 2 * TOKENS,
    });
  });

  test("the vendor's client reads the stream to its end, one chunk a token", async () => {
    const stream = await openai.chat.completions.create({
      model: "echo",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let usage: OpenAI.CompletionUsage | null = null;
    let contents = 0;
    for await (const chunk of stream) {
      const content = chunk.choices[0]?.delta.content;
      if (content) contents += 1;
      text += content ?? "";
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(ASKED);
    expect(contents).toBe(TOKENS);
    expect(usage).toMatchObject({ prompt_tokens: TOKENS, completion_tokens: TOKENS });
  });

  test("usage is in the stream only when it was asked for", async () => {
    const plain = await ask("chat.completions", { model: "echo", messages, stream: true }).text();
    expect(plain).not.toContain('"usage"');
    const asked = await ask("chat.completions", {
      messages,
      stream: true,
      stream_options: { include_usage: true },
    }).text();
    expect(asked.match(/"usage":null/g)).toHaveLength(2 + TOKENS);
    expect(asked.match(/"choices":\[\]/g)).toHaveLength(1);
    expect(asked.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("the stream is byte for byte in the vendor's framing", async () => {
    const text = await ask("chat.completions", {
      model: "echo",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    }).text();
    const id = /chatcmpl-echo-[0-9a-f]{16}/.exec(text)?.[0];
    const head = `{"id":"${id}","object":"chat.completion.chunk","created":0,"model":"echo","choices":[{"index":0,"delta":`;
    expect(text).toBe(
      `data: ${head}{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]}\n\n` +
        `data: ${head}{"content":"Hi"},"logprobs":null,"finish_reason":null}]}\n\n` +
        `data: ${head}{},"logprobs":null,"finish_reason":"stop"}]}\n\n` +
        "data: [DONE]\n\n",
    );
  });
});

describe("messages", () => {
  test("the vendor's client reads the last user text and honest counts", async () => {
    const answer = await anthropic.messages.create({
      model: "echo",
      max_tokens: 100,
      system: "Be brief.",
      messages,
    });
    expect(answer.content).toEqual([{ type: "text", text: ASKED, citations: null }]);
    expect(answer.stop_reason).toBe("end_turn");
    expect(answer.usage).toMatchObject({ input_tokens: 3 + TOKENS, output_tokens: TOKENS });
  });

  test("the vendor's client puts the stream together", async () => {
    const final = await anthropic.messages
      .stream({ model: "echo", max_tokens: 100, messages })
      .finalMessage();
    expect(final.content).toMatchObject([{ type: "text", text: ASKED }]);
    expect(final.usage).toMatchObject({ input_tokens: TOKENS, output_tokens: TOKENS });
  });

  test("the events come in the vendor's order", async () => {
    const text = await ask("messages", {
      model: "echo",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    }).text();
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });
});

test.each(["chat.completions", "messages"] as const)(
  "%s: plain and streamed answers tell the same counts",
  async (surface) => {
    const wire = WIRES[surface === "messages" ? "messages" : "chat"];
    const plain = wire.readAnswer(await ask(surface, { messages }).bytes(), PROVIDERS.echo);
    const meter = streamMeter(wire, PROVIDERS.echo, { withholdUsage: false });
    meter.watch(
      await ask(surface, { messages, stream: true, stream_options: { include_usage: true } }).bytes(),
    );
    expect(meter.terminalSeen()).toBe(true);
    expect(meter.reading(true)).toEqual(plain);
    expect(plain.usage).toMatchObject({ uncachedInputTokens: TOKENS, outputTokens: TOKENS });
  },
);

test.each(["chat.completions", "messages"] as const)(
  "%s: the same bytes always get the same answer",
  async (surface) => {
    const body = { messages, stream: true };
    expect(await ask(surface, body).text()).toBe(await ask(surface, body).text());
  },
);

test.each(["chat.completions", "messages"] as const)(
  "%s: an answer ends at the limit the client sets, and says so",
  async (surface) => {
    const answer = await ask(surface, { max_tokens: 2, messages }).text();
    expect(answer).toContain('"Is it ra"');
    expect(answer).toMatch(/"(finish_reason":"length|stop_reason":"max_tokens)"/);
  },
);

test("an answer never ends inside a character, and is never longer than a model's", async () => {
  const text = "🦊".repeat(40_000);
  const answer = await ask("chat.completions", { messages: [{ role: "user", content: text }] }).json();
  expect(answer.choices[0].message.content).toBe("🦊".repeat(4 * 4096));
  expect(answer.usage).toMatchObject({ prompt_tokens: 10_000, completion_tokens: 4096 });
});

test.each(["chat.completions", "messages"] as const)(
  "%s: tools and parts without text do not disturb the answer",
  async (surface) => {
    const parts = [
      { type: "image", source: {} },
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    const body = {
      tools: [{ name: "f" }],
      messages: [
        { role: "user", content: parts },
        { role: "assistant", content: "no" },
      ],
    };
    expect(await ask(surface, body).text()).toContain(String.raw`"one\ntwo"`);
  },
);

test.each(["chat.completions", "messages"] as const)(
  "%s: a body without messages is refused in the vendor's shape",
  async (surface) => {
    for (const body of [{}, [], "x", { messages: "x" }]) {
      const answer = ask(surface, body);
      expect(answer.status).toBe(400);
      expect((await answer.json()).error.type).toBe("invalid_request_error");
    }
  },
);

test.each(["chat.completions", "messages"] as const)(
  "%s: no user text gets an empty answer of no tokens",
  async (surface) => {
    const reading = WIRES[surface === "messages" ? "messages" : "chat"].readAnswer(
      await ask(surface, { messages: [] }).bytes(),
      PROVIDERS.echo,
    );
    expect(reading.usage).toMatchObject({ uncachedInputTokens: 0, outputTokens: 0 });
  },
);
