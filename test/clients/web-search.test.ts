import { beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { atEnd } from "#test/support/at-end.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// A search that the vendor runs, from clients of all formats at vendors of all formats. The answers are as the vendors document them.

const TEXT = "Ünited: Oslo is rainy.";
const URL_ = "https://weather.example/oslo";
const PLACE = { start_index: 8, end_index: TEXT.length };

const answerAt = (path: string): { whole: object; events: object[] } =>
  path === "/v1/responses" ? openaiAnswer() : path === "/v1/messages" ? claudeAnswer() : geminiAnswer();

let gateway: WiredGateway;
const seen: { path: string; body: Record<string, unknown> }[] = [];

beforeAll(async () => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(http) {
      const { pathname } = new URL(http.url);
      const body = await http.json();
      seen.push({ path: pathname, body });
      const sealed = JSON.stringify(body).includes("tallygate.1.") && pathname === "/v1/messages";
      if (sealed) {
        const error = {
          type: "invalid_request_error",
          message: "Invalid `encrypted_content` in `web_search_tool_result`",
        };
        return Response.json({ type: "error", error }, { status: 400 });
      }
      const { whole, events } = answerAt(pathname);
      if (body.stream !== true && !pathname.endsWith("streamGenerateContent")) return Response.json(whole);
      const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  atEnd(() => server.stop(true));
  const url = `http://127.0.0.1:${server.port}`;
  gateway = await wiredGateway({ chat: `${url}/v1`, messages: url });
  await gateway.admin("PUT", "/providers/google", {
    kind: "gemini",
    base_url: `${url}/v1beta/openai`,
    models: ["gemini-*"],
    credential: "vendor-credential",
    allow_private_network: true,
  });
});

const CLAUDE = "claude-opus-4-6";
const GPT = "gpt-5.6-terra";
const GEMINI = "gemini-3-pro-preview";
const LOCATION = { type: "approximate" as const, city: "Oslo", country: "NO" };

/** What a client sees of a search: its query, what it found, and the part of the text that cites it. */
type Seen = { queries: string[]; found: string[]; text: string; cited: (string | undefined)[] };

type Ask = (model: string, streamed: boolean, session: string) => Promise<Seen>;
const CLIENTS = {
  async messages(model: string, streamed: boolean, session: string): Promise<Seen> {
    const anthropic = new Anthropic({
      apiKey: gateway.secret,
      baseURL: gateway.url,
      defaultHeaders: { "x-session-id": session },
    });
    const search = {
      type: "web_search_20250305" as const,
      name: "web_search" as const,
      user_location: LOCATION,
    };
    const call = {
      model,
      max_tokens: 4096,
      tools: [search],
      messages: [{ role: "user" as const, content: "Rain?" }],
    };
    const { content, usage } = streamed
      ? await anthropic.messages.stream(call).finalMessage()
      : await anthropic.messages.create(call);
    expect(usage.server_tool_use?.web_search_requests).toBe(1);
    const texts = content.flatMap((block) => (block.type === "text" ? [block] : []));
    return {
      queries: content.flatMap((block) =>
        block.type === "server_tool_use" ? [String((block.input as { query: string }).query)] : [],
      ),
      found: content.flatMap((block) =>
        block.type === "web_search_tool_result" && Array.isArray(block.content)
          ? block.content.map(({ url }) => url)
          : [],
      ),
      text: texts.map(({ text }) => text).join(""),
      cited: texts.flatMap(({ citations }) =>
        (citations ?? []).map((it) =>
          it.type === "web_search_result_location" && it.url === URL_ ? it.cited_text : undefined,
        ),
      ),
    };
  },
  async responses(model: string, streamed: boolean, session: string): Promise<Seen> {
    const search = { type: "web_search" as const, user_location: LOCATION };
    const call = {
      model,
      input: "Rain?",
      tools: [search],
      include: ["web_search_call.action.sources" as const],
    };
    const client = openai(session);
    const { output, output_text } = streamed
      ? await client.responses.stream(call).finalResponse()
      : await client.responses.create(call);
    const actions = output.flatMap((item) =>
      item.type === "web_search_call" && item.action?.type === "search" ? [item.action] : [],
    );
    const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
    return {
      queries: actions.flatMap(({ queries = [] }) => queries),
      found: actions.flatMap(({ sources = [] }) =>
        sources.map((source) => ("url" in source ? source.url : "")),
      ),
      text: output_text,
      cited: parts.flatMap((part) =>
        part.type === "output_text"
          ? part.annotations.map((it) =>
              it.type === "url_citation" && it.url === URL_
                ? part.text.slice(it.start_index, it.end_index)
                : undefined,
            )
          : [],
      ),
    };
  },
  async chat(model: string, streamed: boolean, session: string): Promise<Seen> {
    const call = {
      model,
      messages: [{ role: "user" as const, content: "Rain?" }],
      web_search_options: {
        user_location: { type: "approximate" as const, approximate: { city: "Oslo", country: "NO" } },
      },
    };
    const { choices } = streamed
      ? await openai(session).chat.completions.stream(call).finalChatCompletion()
      : await openai(session).chat.completions.create(call);
    const message = choices[0]?.message;
    const text = message?.content ?? "";
    const cited = (message?.annotations ?? []).map(({ url_citation: it }) =>
      it.url === URL_ ? text.slice(it.start_index, it.end_index) : undefined,
    );
    return { queries: [], found: [], text, cited };
  },
  async gemini(model: string, streamed: boolean, session: string): Promise<Seen> {
    const ai = new GoogleGenAI({
      apiKey: gateway.secret,
      httpOptions: { baseUrl: gateway.url, headers: { "x-session-id": session } },
    });
    const call = { model, contents: "Rain?", config: { tools: [{ googleSearch: {} }] } };
    const chunks = streamed
      ? await Array.fromAsync(await ai.models.generateContentStream(call))
      : [await ai.models.generateContent(call)];
    const grounding = chunks.at(-1)?.candidates?.[0]?.groundingMetadata;
    const text = chunks.map((chunk) => chunk.text ?? "").join("");
    return {
      queries: grounding?.webSearchQueries ?? [],
      found: (grounding?.groundingChunks ?? []).map(({ web }) => web?.uri ?? ""),
      text,
      cited: (grounding?.groundingSupports ?? []).map(({ segment }) =>
        Buffer.from(text)
          .subarray(segment?.startIndex ?? 0, segment?.endIndex)
          .toString(),
      ),
    };
  },
} satisfies Record<string, Ask>;

const openai = (session: string) =>
  new OpenAI({
    apiKey: gateway.secret,
    baseURL: `${gateway.url}/v1`,
    defaultHeaders: { "x-session-id": session },
  });

const DECLARED: Record<string, object> = {
  [GPT]: { type: "web_search" },
  [CLAUDE]: { type: "web_search_20250305", name: "web_search" },
  [GEMINI]: { googleSearch: {} },
};

const PAIRS = [
  ["messages", GPT],
  ["messages", GEMINI],
  ["responses", CLAUDE],
  ["responses", GEMINI],
  ["chat", CLAUDE],
  ["gemini", GPT],
  ["gemini", CLAUDE],
] as const;

test.each(
  PAIRS.flatMap(([client, model]) => [false, true].map((streamed) => [client, model, streamed] as const)),
)(
  "a %s client at %s gets its search, what it found and what the text cites (streamed: %p)",
  async (client, model, streamed) => {
    const session = newId();
    const { queries, found, text, cited } = await CLIENTS[client](model, streamed, session);
    expect(text).toBe(TEXT);
    expect(cited).toEqual([model === CLAUDE ? TEXT : TEXT.slice(PLACE.start_index)]);
    if (client !== "chat") expect([queries, found]).toEqual([["rain in Oslo"], [URL_]]);
    const [declared] = (seen.at(-1)?.body["tools"] ?? []) as object[];
    expect(declared).toMatchObject(DECLARED[model] ?? {});
    if (client !== "gemini" && model !== GEMINI) expect(declared).toMatchObject({ user_location: LOCATION });
    const records = await gateway.records(session, 1);
    expect(records).toMatchObject([{ web_searches: 1, state: "ok" }]);
  },
);

test("beside functions, Claude and OpenAI search as well, and Google's older rule leaves the search out", async () => {
  const tools = [
    { type: "web_search" as const },
    { type: "function" as const, name: "draw", parameters: { type: "object" }, strict: false },
  ];
  for (const [model, count] of [
    [CLAUDE, 2],
    [GEMINI, 1],
  ] as const) {
    const { response } = await openai(newId())
      .responses.create({ model, input: "Rain?", tools })
      .withResponse();
    expect(seen.at(-1)?.body["tools"]).toHaveLength(count);
    expect(response.headers.get("x-gateway-dropped")?.includes("tools") ?? false).toBe(model === GEMINI);
  }
});

test("a search that the client demands is demanded of the vendor, or refused where that cannot be", async () => {
  const tools = [
    { type: "web_search" as const },
    { type: "function" as const, name: "draw", parameters: { type: "object" }, strict: false },
  ];
  const chosen = { type: "web_search_preview" as const };
  for (const offered of [tools, tools.slice(0, 1)]) {
    await openai(newId()).responses.create({
      ...{ model: CLAUDE, input: "Rain?", tools: offered, tool_choice: chosen },
    });
    expect(seen.at(-1)?.body["tool_choice"]).toEqual({ type: "tool", name: "web_search" });
  }
  const asked = {
    max_tokens: 512,
    messages: [{ role: "user" as const, content: "Rain?" }],
    tools: [{ type: "web_search_20250305" as const, name: "web_search" as const }],
  };
  const demanded = { ...asked, tool_choice: { type: "tool" as const, name: "web_search" } };
  const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
  await anthropic.messages.create({ ...demanded, model: GPT });
  expect(seen.at(-1)?.body["tool_choice"]).toEqual({
    ...{ type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] },
  });
  const refused = anthropic.messages.create({ ...demanded, model: GEMINI });
  expect(await refused.catch(({ status, message }) => [status, message])).toEqual([
    400,
    expect.stringContaining("tool_choice"),
  ]);
  await anthropic.messages.create({ ...asked, tool_choice: { type: "none" }, model: GPT });
  expect(seen.at(-1)?.body["tool_choice"]).toBe("none");
});

test("a client that wants no live access, as Codex by default, gets no other vendor's search", async () => {
  const search = { type: "web_search" as const, external_web_access: false };
  const draw = { type: "function" as const, name: "draw", parameters: { type: "object" }, strict: false };
  await openai(newId()).responses.create({ model: CLAUDE, input: "Rain?", tools: [search, draw] as never });
  expect(seen.at(-1)?.body["tools"]).toMatchObject([{ name: "draw" }]);
});

test("domains are kept where the vendor has them, and refused by name where it has not", async () => {
  const tools = [{ type: "web_search" as const, filters: { allowed_domains: ["weather.example"] } }];
  await openai(newId()).responses.create({ model: CLAUDE, input: "Rain?", tools });
  expect(seen.at(-1)?.body["tools"]).toMatchObject([{ allowed_domains: ["weather.example"] }]);
  const refused = await openai(newId())
    .responses.create({ model: GEMINI, input: "Rain?", tools })
    .catch(String);
  expect(refused).toContain(
    "`tools[0]` cannot be expressed in the provider's format: a search by Google has no domains",
  );
});

test("a conversation with another vendor's search continues with a Claude model", async () => {
  const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
  const search = { type: "web_search_20250305" as const, name: "web_search" as const };
  const question = { role: "user" as const, content: "Rain?" };
  const call = { max_tokens: 4096, tools: [search] };
  const { content } = await anthropic.messages.create({ ...call, model: GPT, messages: [question] });
  const messages = [
    question,
    { role: "assistant" as const, content },
    { role: "user" as const, content: "And now?" },
  ];
  expect(
    (await anthropic.messages.create({ ...call, model: CLAUDE, messages })).content.at(-1),
  ).toMatchObject({ text: TEXT });
  expect(JSON.stringify(seen.at(-1)?.body)).toContain(TEXT);
});

function openaiAnswer() {
  const search = {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: {
      type: "search",
      query: "rain in Oslo",
      queries: ["rain in Oslo"],
      sources: [{ type: "url", url: URL_ }],
    },
  };
  const annotation = { type: "url_citation", url: URL_, title: "Oslo", ...PLACE };
  const part = { type: "output_text", text: TEXT, annotations: [annotation] };
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [part] };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const response = {
    id: "resp_1",
    object: "response",
    model: GPT,
    status: "completed",
    output: [search, message],
    usage,
  };
  return {
    whole: response,
    events: [
      { type: "response.created", response: { ...response, output: [], status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: { ...search, status: "in_progress" } },
      { type: "response.output_item.done", output_index: 0, item: search },
      { type: "response.output_item.added", output_index: 1, item: { ...message, content: [] } },
      { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: TEXT },
      {
        type: "response.output_text.annotation.added",
        output_index: 1,
        content_index: 0,
        annotation_index: 0,
        annotation,
      },
      { type: "response.output_item.done", output_index: 1, item: message },
      { type: "response.completed", response },
    ],
  };
}

function claudeAnswer() {
  const use = {
    type: "server_tool_use",
    id: "srvtoolu_1",
    name: "web_search",
    input: { query: "rain in Oslo" },
  };
  const found = {
    type: "web_search_result",
    url: URL_,
    title: "Oslo",
    encrypted_content: "Eo8=",
    page_age: null,
  };
  const result = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [found] };
  const citation = {
    type: "web_search_result_location",
    url: URL_,
    title: "Oslo",
    encrypted_index: "Eo8=",
    cited_text: TEXT,
  };
  const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 1 } };
  const head = { id: "msg_1", type: "message", role: "assistant", model: CLAUDE, usage, stop_sequence: null };
  const start = (index: number, content_block: object) => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const delta = (index: number, one: object) => ({ type: "content_block_delta", index, delta: one });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  return {
    whole: {
      ...head,
      stop_reason: "end_turn",
      content: [use, result, { type: "text", text: TEXT, citations: [citation] }],
    },
    events: [
      { type: "message_start", message: { ...head, content: [], stop_reason: null } },
      start(0, { ...use, input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"query":"rain' }),
      delta(0, { type: "input_json_delta", partial_json: ' in Oslo"}' }),
      stop(0),
      start(1, result),
      stop(1),
      start(2, { type: "text", text: "", citations: [] }),
      delta(2, { type: "text_delta", text: TEXT }),
      delta(2, { type: "citations_delta", citation }),
      stop(2),
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ],
  };
}

function geminiAnswer() {
  const segment = {
    startIndex: Buffer.byteLength(TEXT.slice(0, PLACE.start_index)),
    endIndex: Buffer.byteLength(TEXT),
    text: TEXT.slice(PLACE.start_index),
  };
  const groundingMetadata = {
    webSearchQueries: ["rain in Oslo"],
    groundingChunks: [{ web: { uri: URL_, title: "Oslo" } }],
    groundingSupports: [{ segment, groundingChunkIndices: [0] }],
  };
  const head = {
    responseId: "r1",
    modelVersion: GEMINI,
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  };
  const content = { role: "model", parts: [{ text: TEXT }] };
  const end = { finishReason: "STOP", groundingMetadata, index: 0 };
  return {
    whole: { ...head, candidates: [{ content, ...end }] },
    events: [
      { ...head, candidates: [{ content, index: 0 }] },
      { ...head, candidates: [{ content: { role: "model", parts: [{ text: "" }] }, ...end }] },
    ],
  };
}
