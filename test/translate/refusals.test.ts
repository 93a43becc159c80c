import { describe, expect, test } from "bun:test";
import type { Pair } from "#gateway/translate/translate.ts";
import { jsonOf, translation } from "./kit.ts";

const CHAT: Pair = { from: "chat", to: "messages" };
const MESSAGES: Pair = { from: "messages", to: "chat" };
const RESPONSES: Pair = { from: "responses", to: "chat" };
const BASE = {
  chat: { messages: [{ role: "user", content: "secret-canary" }] },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "secret-canary" }] },
  responses: { input: "secret-canary" },
};

const user = (content: unknown) => ({ messages: [{ role: "user", content }] });

describe("what the provider's format has no place for is refused by its name", () => {
  const cases: [Pair, object, string][] = [
    [CHAT, { seed: 7 }, "seed"],
    [CHAT, { n: 2 }, "n"],
    [CHAT, { logprobs: true }, "logprobs"],
    [CHAT, { logit_bias: { "50256": -100 } }, "logit_bias"],
    [CHAT, { presence_penalty: 0.5 }, "presence_penalty"],
    [CHAT, { temperature: 1.5 }, "temperature"],
    [CHAT, { store: true }, "store"],
    [CHAT, { service_tier: "flex" }, "service_tier"],
    [CHAT, { modalities: ["text", "audio"], audio: { voice: "alloy", format: "mp3" } }, "modalities"],
    [CHAT, { web_search_options: {} }, "web_search_options"],
    [CHAT, { functions: [] }, "functions"],
    [CHAT, { response_format: { type: "json_object" } }, "response_format"],
    [CHAT, { tools: [{ type: "custom", custom: { name: "sql" } }] }, "tools[0].type"],
    [CHAT, { reasoning_effort: "extreme" }, "reasoning_effort"],
    [CHAT, { unheard_of: 1 }, "unheard_of"],
    [CHAT, user([{ type: "input_audio", input_audio: {} }]), "messages[0].content[0]"],
    [CHAT, user([{ type: "file", file: { file_id: "file-1" } }]), "messages[0].content[0].file.file_id"],
    [
      CHAT,
      user([{ type: "image_url", image_url: { url: "data:image/tiff;base64,AA" } }]),
      "messages[0].content[0]",
    ],
    [CHAT, { messages: [{ role: "user", name: "Ann", content: "x" }] }, "messages[0].name"],
    [CHAT, { messages: [{ role: "function", name: "f", content: "x" }] }, "messages[0].role"],
    [CHAT, { messages: [{ role: "assistant", content: "It is" }] }, "messages[0]"],
    [MESSAGES, { top_k: 5 }, "top_k"],
    [MESSAGES, { max_tokens: 0 }, "max_tokens"],
    [MESSAGES, { container: "c" }, "container"],
    [MESSAGES, { mcp_servers: [] }, "mcp_servers"],
    [MESSAGES, { speed: "fast" }, "speed"],
    [MESSAGES, { tools: [{ type: "web_search_20250305", name: "web_search" }] }, "tools[0].type"],
    [MESSAGES, { tools: [{ name: "f", input_schema: {}, input_examples: [{}] }] }, "tools[0].input_examples"],
    [
      MESSAGES,
      { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } },
      "context_management.edits[0]",
    ],
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
    [
      MESSAGES,
      user([{ type: "search_result", source: "s", title: "t", content: [] }]),
      "messages[0].content[0]",
    ],
    [MESSAGES, { messages: [{ role: "assistant", content: "It is" }] }, "messages[0]"],
    [RESPONSES, { previous_response_id: "resp_1" }, "previous_response_id"],
    [RESPONSES, { conversation: "conv_1" }, "conversation"],
    [RESPONSES, { background: true }, "background"],
    [RESPONSES, { truncation: "auto" }, "truncation"],
    [RESPONSES, { store: true }, "store"],
    [RESPONSES, { tools: [{ type: "web_search" }] }, "tools[0].type"],
    [RESPONSES, { include: ["message.output_text.logprobs"] }, "include[0]"],
    [RESPONSES, { input: [{ type: "item_reference", id: "msg_1" }] }, "input[0].type"],
    [
      RESPONSES,
      { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] },
      "input[0].content[0].file_id",
    ],
    [{ from: "responses", to: "messages" }, { text: { verbosity: "low" } }, "text.verbosity"],
    [{ from: "responses", to: "messages" }, { service_tier: "priority" }, "service_tier"],
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

describe("what means nothing to the other format is left out, and the call goes on", () => {
  const cases: [Pair, object][] = [
    [CHAT, { n: 1, store: false, logprobs: false, top_logprobs: 0, logit_bias: {}, presence_penalty: 0 }],
    [CHAT, { frequency_penalty: 0, modalities: ["text"], service_tier: "auto", verbosity: "medium" }],
    [
      CHAT,
      { seed: null, stop: null, tools: null, response_format: { type: "text" }, temperature: 1, top_p: 1 },
    ],
    [CHAT, { metadata: { a: "b" }, prediction: { type: "content", content: "x" }, prompt_cache_key: "k" }],
    [CHAT, { stream_options: { include_obfuscation: false }, prompt_cache_retention: "24h", route: "r" }],
    [
      MESSAGES,
      { service_tier: "auto", speed: "standard", cache_control: { type: "ephemeral" }, top_k: null },
    ],
    [MESSAGES, { thinking: { type: "disabled" }, metadata: { user_id: '{"session_id":"s"}' }, route: "r" }],
    [RESPONSES, { metadata: {}, store: false, truncation: "disabled", client_metadata: {}, top_logprobs: 0 }],
    [
      RESPONSES,
      { reasoning: { effort: null, context: "auto" }, include: ["web_search_call.action.sources"] },
    ],
  ];
  test.each(cases.map(([pair, members]) => [Object.keys(members).join(", "), pair, members] as const))(
    "%s",
    (_name, pair, members) => {
      const plain = jsonOf(translation(pair, BASE[pair.from]).body);
      expect(jsonOf(translation(pair, { ...BASE[pair.from], ...members }).body)).toEqual(plain);
    },
  );
});
