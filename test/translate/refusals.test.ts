import { describe, expect, test } from "bun:test";
import type { Pair } from "#gateway/translate/translate.ts";
import { jsonOf, translation } from "./kit.ts";

const CHAT: Pair = { from: "chat", to: "messages" };
const MESSAGES: Pair = { from: "messages", to: "chat" };
const GEMINI: Pair = { from: "gemini", to: "chat" };
const RESPONSES: Pair = { from: "responses", to: "chat" };
const BASE = {
  chat: { messages: [{ role: "user", content: "secret-canary" }] },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "secret-canary" }] },
  responses: { input: "secret-canary" },
  gemini: { contents: [{ role: "user", parts: [{ text: "secret-canary" }] }] },
};

const user = (content: unknown) => ({ messages: [{ role: "user", content }] });

describe("what the provider's format has no place for is refused by its name", () => {
  const cases: [Pair, object, string][] = [
    [GEMINI, { generationConfig: { candidateCount: 2 } }, "generationConfig.candidateCount"],
    [GEMINI, { generation_config: { response_logprobs: true } }, "generationConfig.responseLogprobs"],
    [GEMINI, { cachedContent: "cachedContents/1" }, "cachedContent"],
    [GEMINI, { unheardOf: 1 }, "unheardOf"],
    [GEMINI, { contents: [{ parts: [{ executableCode: {} }] }] }, "contents[0].parts[0].executableCode"],
    [CHAT, { n: 2 }, "n"],
    [CHAT, { logprobs: true }, "logprobs"],
    [CHAT, { logit_bias: { "50256": -100 } }, "logit_bias"],
    [CHAT, { presence_penalty: 0.5 }, "presence_penalty"],
    [CHAT, { modalities: ["text", "audio"], audio: { voice: "alloy", format: "mp3" } }, "modalities"],
    [CHAT, { web_search_options: {} }, "web_search_options"],
    [CHAT, { functions: [{ name: "f" }] }, "functions"],
    [CHAT, { tools: [{ type: "hologram" }] }, "tools[0].type"],
    [CHAT, { reasoning_effort: "extreme" }, "reasoning_effort"],
    [CHAT, { unheard_of: 1 }, "unheard_of"],
    [CHAT, user([{ type: "input_audio", input_audio: {} }]), "messages[0].content[0]"],
    [CHAT, user([{ type: "file", file: { file_id: "file-1" } }]), "messages[0].content[0].file.file_id"],
    [
      CHAT,
      user([{ type: "image_url", image_url: { url: "data:image/tiff;base64,AA" } }]),
      "messages[0].content[0]",
    ],
    [CHAT, { messages: [{ role: "function", name: "f", content: "x" }] }, "messages[0].role"],
    [CHAT, { messages: [{ role: "assistant", content: "It is" }] }, "messages[0]"],
    [MESSAGES, { max_tokens: 0 }, "max_tokens"],
    [MESSAGES, { container: "c" }, "container"],
    [MESSAGES, { mcp_servers: [{}] }, "mcp_servers"],
    [MESSAGES, { speed: "fast" }, "speed"],
    [MESSAGES, { tools: [{ type: "web_search_20250305", name: "web_search" }] }, "tools[0].type"],
    [
      MESSAGES,
      user([{ type: "document", source: { type: "url", url: "https://example.com/a.pdf" } }]),
      "messages[0].content[0]",
    ],
    [
      MESSAGES,
      user([{ type: "document", source: { type: "file", file_id: "f" } }]),
      "messages[0].content[0].source.type",
    ],
    [
      MESSAGES,
      user([{ type: "document", citations: { enabled: true }, source: { type: "text", data: "x" } }]),
      "messages[0].content[0].citations",
    ],
    [MESSAGES, { messages: [{ role: "assistant", content: "It is" }] }, "messages[0]"],
    [RESPONSES, { previous_response_id: "resp_1" }, "previous_response_id"],
    [RESPONSES, { conversation: "conv_1" }, "conversation"],
    [RESPONSES, { background: true }, "background"],
    [RESPONSES, { truncation: "auto" }, "truncation"],
    [RESPONSES, { tools: [{ type: "web_search" }] }, "tools[0].type"],
    [RESPONSES, { include: ["message.output_text.logprobs"] }, "include[0]"],
    [RESPONSES, { input: [{ type: "item_reference", id: "msg_1" }] }, "input[0].id"],
    [
      RESPONSES,
      { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] },
      "input[0].content[0].file_id",
    ],
  ];
  test.each(
    cases.map(([pair, members, at]) => [`${pair.from} to ${pair.to}: ${at}`, pair, members, at] as const),
  )("%s", (_name, pair, members, at) => {
    const body = { ...BASE[pair.from], ...members };
    const refused = () => translation(pair, body);
    expect(refused).toThrow(`\`${at}\` cannot be expressed in the provider's format`);
    expect(refused).not.toThrow("secret-canary");
    expect(refused).toThrow(expect.objectContaining({ type: "invalid_request" }));
  });

  test("a thread is refused in the words by which the vendor's client goes on without one", () => {
    const threaded = { ...BASE.messages, thread: { type: "create" } };
    expect(() => translation(MESSAGES, threaded)).toThrow(
      expect.objectContaining({
        details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      }),
    );
  });

  test("a member's name that no format has is not repeated when it is odd or long", () => {
    for (const name of ["my prompt: secret-canary", "x".repeat(200)]) {
      expect(() => translation(CHAT, { ...BASE.chat, [name]: 1 })).toThrow(
        "`the body (a field with an unusual name)`",
      );
    }
  });
});

describe("what tools of a vendor left in a conversation does not stop it at another model:", () => {
  const question = { role: "user", content: "Go on." };
  const answer = { role: "assistant", content: [{ type: "output_text", text: "It rains." }] };
  const search = {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "rain" },
  };

  test("items of tools that the vendor ran are left out and counted", () => {
    const plain = translation(RESPONSES, { ...BASE.responses, input: [question, answer, question] });
    const items = ["file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools"];
    const input = [question, search, ...items.map((type) => ({ type, id: "i" })), answer, question];
    const translated = translation(RESPONSES, { ...BASE.responses, input });
    expect(jsonOf(translated.body)).toEqual(jsonOf(plain.body));
    expect([...translated.dropped]).toEqual([["input", 5]]);
  });

  test("blocks of tools that Claude's vendor ran are left out, and a message of nothing else with them", () => {
    const said = { role: "assistant", content: [{ type: "text", text: "It rains." }] };
    const use = { type: "server_tool_use", id: "s", name: "web_search", input: { query: "rain" } };
    const result = { type: "web_search_tool_result", tool_use_id: "s", content: [] };
    const mcp = { type: "mcp_tool_use", id: "m", name: "n", server_name: "x", input: {} };
    const messages = [question, { role: "assistant", content: [use, result, ...said.content] }, question];
    const plain = translation(MESSAGES, { ...BASE.messages, messages: [question, said, question] });
    const translated = translation(MESSAGES, { ...BASE.messages, messages });
    expect(jsonOf(translated.body)).toEqual(jsonOf(plain.body));
    expect([...translated.dropped]).toEqual([["messages.content", 2]]);
    const only = [question, { role: "assistant", content: [mcp] }, question];
    expect(jsonOf(translation(MESSAGES, { ...BASE.messages, messages: only }).body)).toMatchObject({
      messages: [question, question],
    });
  });

  test.each([
    ["custom_tool_call", { name: "patch", input: "*** Begin" }, "patch", { input: "*** Begin" }],
    ["local_shell_call", { action: { command: ["ls"] } }, "local_shell", { command: ["ls"] }],
    ["shell_call", { action: { commands: ["ls"] } }, "shell", { commands: ["ls"] }],
    ["apply_patch_call", { operation: { path: "a" } }, "apply_patch", { path: "a" }],
  ])("%s and its output, which the client ran, are those of a function", (type, call, name, input) => {
    const body = jsonOf(
      translation(RESPONSES, {
        ...BASE.responses,
        input: [
          question,
          { type, call_id: "c1", status: "completed", ...call },
          { type: `${type}_output`, call_id: "c1", output: "done" },
        ],
      }).body,
    );
    expect(body).toMatchObject({
      messages: [
        question,
        {
          role: "assistant",
          tool_calls: [{ id: "c1", function: { name, arguments: JSON.stringify(input) } }],
        },
        { role: "tool", tool_call_id: "c1", content: "done" },
      ],
    });
  });

  test("an item that is a part of what was said is still refused", () => {
    const input = [question, { type: "compaction", id: "c", encrypted_content: "x" }];
    expect(() => translation(RESPONSES, { ...BASE.responses, input })).toThrow("`input[1].type`");
  });
});

describe("what is malformed in the client's own format is told so", () => {
  const cases: [Pair, object, string][] = [
    [CHAT, { messages: "hi" }, "`messages` must be an array"],
    [CHAT, { messages: [{ role: "tool", content: "x" }] }, "`messages[0].tool_call_id` must be a string"],
    [CHAT, { max_tokens: "9" }, "`max_tokens` must be a number"],
    [CHAT, { stream: "yes" }, "`stream` must be true or false"],
    [CHAT, user([{ type: "image_url", image_url: { url: "ftp://x" } }]), "must be an http(s) or data URL"],
    [MESSAGES, { max_tokens: null }, "`max_tokens` must be a number"],
    [MESSAGES, { messages: undefined }, "`messages` must be an array"],
    [RESPONSES, { input: null }, "`input` must be a string or an array"],
  ];
  test.each(cases.map(([pair, members, message]) => [message, pair, members] as const))(
    "%s",
    (message, pair, members) => {
      expect(() => translation(pair, { ...BASE[pair.from], ...members })).toThrow(message);
    },
  );
});

describe("what means nothing to the other format is left out and counted, and the call goes on", () => {
  const cases: [Pair, object, string][] = [
    [CHAT, { n: 1, store: false, logprobs: false }, "n store logprobs"],
    [
      CHAT,
      { top_logprobs: 0, logit_bias: {}, presence_penalty: 0 },
      "top_logprobs logit_bias presence_penalty",
    ],
    [CHAT, { frequency_penalty: 0, modalities: ["text"] }, "frequency_penalty modalities"],
    [CHAT, { service_tier: "flex", verbosity: "medium" }, "service_tier verbosity"],
    [CHAT, { seed: 7, store: true, functions: [] }, "seed store functions"],
    [CHAT, { parallel_tool_calls: true, temperature: 1.7 }, "parallel_tool_calls"],
    [CHAT, { seed: null, stop: null, tools: null, temperature: 1, top_p: 1 }, ""],
    [
      CHAT,
      { metadata: { a: "b" }, prediction: {}, prompt_cache_key: "k" },
      "metadata prediction prompt_cache_key",
    ],
    [CHAT, { prompt_cache_retention: "24h", route: "r" }, "prompt_cache_retention"],
    [CHAT, { stream_options: { include_obfuscation: false } }, "stream_options.include_obfuscation"],
    [CHAT, { messages: [{ role: "user", name: "Ann", content: "secret-canary" }] }, "messages.name"],
    [MESSAGES, { service_tier: "auto", speed: "standard", top_k: null }, "service_tier speed"],
    [MESSAGES, { top_k: 5 }, "top_k"],
    [{ from: "messages", to: "responses" }, { top_k: 5 }, "top_k"],
    [
      { from: "gemini", to: "responses" },
      { generationConfig: { topK: 5, seed: 7 } },
      "generationConfig.topK generationConfig.seed",
    ],
    [MESSAGES, { cache_control: { type: "ephemeral" }, mcp_servers: [] }, "cache_control mcp_servers"],
    [
      MESSAGES,
      { thinking: { type: "disabled" }, metadata: { user_id: '{"session_id":"s"}' }, route: "r" },
      "",
    ],
    [
      MESSAGES,
      { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } },
      "context_management",
    ],
    [RESPONSES, { metadata: {}, store: false, truncation: "disabled" }, "metadata truncation"],
    [RESPONSES, { client_metadata: {}, top_logprobs: 0 }, "client_metadata top_logprobs"],
    [RESPONSES, { parallel_tool_calls: false, background: false }, "parallel_tool_calls background"],
    [RESPONSES, { reasoning: { effort: null, context: "auto" } }, "reasoning.context"],
    [RESPONSES, { include: ["web_search_call.action.sources"] }, ""],
    [{ from: "responses", to: "messages" }, { service_tier: "priority" }, "service_tier"],
  ];
  test.each(
    cases.map(
      ([pair, members, dropped]) => [Object.keys(members).join(", "), pair, members, dropped] as const,
    ),
  )("%s", (_name, pair, members, dropped) => {
    const plain = jsonOf(translation(pair, BASE[pair.from]).body);
    const translated = translation(pair, { ...BASE[pair.from], ...members });
    expect(jsonOf(translated.body)).toEqual(plain);
    expect([...translated.dropped.keys()].sort()).toEqual(dropped.split(" ").filter(Boolean).sort());
  });

  test("what clients send back with earlier answers", () => {
    const said = (echoed: object, part: object) => ({
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: [{ type: "text", text: "Hello.", ...part }],
          ...echoed,
        },
        { role: "user", content: "bye" },
      ],
    });
    const plain = translation(CHAT, said({}, {}));
    const echoes = translation(
      CHAT,
      said(
        {
          annotations: [{ type: "url_citation" }],
          refusal: null,
          tool_calls: [],
          id: "msg_1",
          status: "completed",
        },
        { annotations: [], role: "assistant", refusal: null, tool_calls: [], logprobs: [] },
      ),
    );
    expect(jsonOf(echoes.body)).toEqual(jsonOf(plain.body));
    expect(Object.fromEntries(echoes.dropped)).toEqual({
      "messages.annotations": 1,
      "messages.tool_calls": 1,
      "messages.id": 1,
      "messages.status": 1,
      "messages.content.annotations": 1,
      "messages.content.role": 1,
      "messages.content.tool_calls": 1,
      "messages.content.logprobs": 1,
    });
  });

  const functions = {
    chat: [{ type: "function", function: { name: "f" } }],
    messages: [{ name: "f", input_schema: { type: "object", properties: {} } }],
    responses: [{ type: "function", name: "f" }],
    gemini: [{ functionDeclarations: [{ name: "f" }] }],
  };
  const hosted: [Pair, object][] = [
    [MESSAGES, { type: "web_search_20250305", name: "web_search" }],
    [RESPONSES, { type: "web_search", external_web_access: true }],
  ];
  test.each(hosted.map(([pair, tool]) => [`${pair.from} to ${pair.to}`, pair, tool] as const))(
    "tools that the vendor runs, where functions are left (%s)",
    (_name, pair, tool) => {
      const tools = functions[pair.from];
      const plain = translation(pair, { ...BASE[pair.from], tools });
      const mixed = translation(pair, { ...BASE[pair.from], tools: [tool, ...tools] });
      expect(jsonOf(mixed.body)).toEqual(jsonOf(plain.body));
      expect(Object.fromEntries(mixed.dropped)).toEqual({ tools: 1 });
    },
  );
});

describe("on a route that says so, members that change the answer are left out, too", () => {
  const cases: [Pair, object, string][] = [
    [CHAT, { logprobs: true, top_logprobs: 3, n: 2 }, "logprobs top_logprobs n"],
    [CHAT, { presence_penalty: 0.5, unheard_of: 1 }, "presence_penalty unheard_of"],
    [CHAT, { tools: [{ type: "hologram" }] }, "tools.type"],
    [MESSAGES, { speed: "fast", container: "c" }, "speed container"],
    [RESPONSES, { truncation: "auto", include: ["message.output_text.logprobs"] }, "truncation include"],
    [{ from: "responses", to: "messages" }, { text: { verbosity: "low" } }, "text.verbosity"],
  ];
  test.each(
    cases.map(
      ([pair, members, dropped]) => [Object.keys(members).join(", "), pair, members, dropped] as const,
    ),
  )("%s", (_name, pair, members, dropped) => {
    const plain = jsonOf(translation(pair, BASE[pair.from]).body);
    const translated = translation(pair, { ...BASE[pair.from], ...members }, { onInexpressible: "drop" });
    expect(jsonOf(translated.body)).toEqual(plain);
    expect([...translated.dropped.keys()].sort()).toEqual(dropped.split(" ").sort());
  });

  test("but nothing of what was said, and nothing malformed", () => {
    const refused: [Pair, object][] = [
      [CHAT, user([{ type: "input_audio", input_audio: {} }])],
      [CHAT, { messages: [{ role: "assistant", content: null, function_call: { name: "f" } }] }],
      [CHAT, { max_tokens: "9" }],
      [RESPONSES, { conversation: "conv_1" }],
    ];
    for (const [pair, members] of refused) {
      const body = { ...BASE[pair.from], ...members };
      expect(() => translation(pair, body, { onInexpressible: "drop" })).toThrow(
        expect.objectContaining({ type: "invalid_request" }),
      );
    }
  });
});
