import { describe, expect, test } from "bun:test";
import type { Pair } from "#gateway/translate/translate.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { bytesOf, eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

// Tools that a vendor defines, at another vendor's model.

const CODEX: Pair = { from: "responses", to: "messages" };
const CLAUDE: Pair = { from: "messages", to: "chat" };
const FUNCTION = { type: "function", name: "read", parameters: { type: "object" }, strict: false };
const TOOLS = [
  { type: "namespace", name: "mcp__docs__", description: "Docs.", tools: [FUNCTION] },
  {
    type: "custom",
    name: "patch",
    description: "Patches.",
    format: { type: "grammar", syntax: "lark", definition: "start: x" },
  },
  { type: "local_shell" },
  { type: "apply_patch" },
  { type: "shell", environment: { type: "local" } },
];
const HISTORY = [
  { role: "user", content: "Go." },
  { type: "function_call", call_id: "c1", namespace: "mcp__docs__", name: "read", arguments: "{}" },
  { type: "custom_tool_call", call_id: "c2", name: "patch", input: "*** Begin" },
  { type: "function_call_output", call_id: "c1", output: "a" },
  { type: "custom_tool_call_output", call_id: "c2", output: "b" },
];

type Sent = {
  tools?: { name: string; input_schema?: object; description?: string }[];
  messages: { content: object[] }[];
};
const sent = (pair: Pair, request: object, options: object = {}) =>
  jsonOf(translation(pair, request, options).body) as Sent;

describe("tools that the client runs", () => {
  test("of Codex are functions at a Claude, in its history too", () => {
    const { tools = [], messages } = sent(CODEX, { input: HISTORY, tools: TOOLS });
    expect(tools.map(({ name }) => name)).toEqual([
      ...["mcp__docs__read", "patch", "local_shell", "apply_patch", "shell"],
    ]);
    expect(tools[1]?.description).toContain("start: x");
    expect(tools[1]?.input_schema).toMatchObject({ required: ["input"] });
    expect(messages[1]?.content).toMatchObject([
      { type: "tool_use", name: "mcp__docs__read", input: {} },
      { type: "tool_use", name: "patch", input: { input: "*** Begin" } },
    ]);
  });

  const uses = [
    { id: "t1", name: "mcp__docs__read", input: { page: 1 } },
    { id: "t2", name: "patch", input: { input: "*** Begin" } },
    { id: "t3", name: "local_shell", input: { command: ["ls"] } },
    { id: "t4", name: "apply_patch", input: { type: "delete_file", path: "a" } },
    { id: "t5", name: "shell", input: { commands: ["ls"] } },
  ];
  const message = { id: "m", type: "message", model: "c", usage: { input_tokens: 1, output_tokens: 1 } };
  const ITEMS = [
    { type: "function_call", call_id: "t1", namespace: "mcp__docs__", name: "read", arguments: '{"page":1}' },
    { type: "custom_tool_call", call_id: "t2", name: "patch", input: "*** Begin" },
    { type: "local_shell_call", call_id: "t3", action: { type: "exec", command: ["ls"] } },
    { type: "apply_patch_call", call_id: "t4", operation: { type: "delete_file", path: "a" } },
    { type: "shell_call", call_id: "t5", action: { commands: ["ls"] } },
  ].map((item) => ({ ...item, status: "completed" }));

  test("are called as their client defines them, whole and streamed", () => {
    const ask = () => translation(CODEX, { input: "Go.", tools: TOOLS, stream: true });
    const content = uses.map((use) => ({ type: "tool_use", ...use }));
    const whole = jsonOf(ask().answer(bytesOf({ ...message, content, stop_reason: "tool_use" }), NO_USAGE));
    expect(whole).toMatchObject({ output: ITEMS });
    const events = [
      { type: "message_start", message },
      ...uses.flatMap(({ input, ...use }, index) => [
        { type: "content_block_start", index, content_block: { type: "tool_use", ...use, input: {} } },
        {
          type: "content_block_delta",
          index,
          delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
        },
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ];
    const streamed = eventsIn(relayed(CODEX, ask(), [new TextEncoder().encode(sseOf(events))]));
    const done = streamed.filter(({ event }) => event === "response.output_item.done");
    expect(done.map(({ data }) => (data as { item: object }).item)).toMatchObject(ITEMS);
    const input = streamed.find(({ event }) => event === "response.custom_tool_call_input.done");
    expect(input?.data).toMatchObject({ input: "*** Begin", output_index: 1 });
  });

  test("of OpenAI's chat format that take a text are called with it", () => {
    const pair: Pair = { from: "chat", to: "messages" };
    const request = {
      messages: [
        { role: "user", content: "Go." },
        {
          role: "assistant",
          tool_calls: [{ id: "a", type: "custom", custom: { name: "sql", input: "select 1" } }],
        },
        { role: "tool", tool_call_id: "a", content: "1" },
      ],
      tools: [{ type: "custom", custom: { name: "sql" } }],
      tool_choice: { type: "custom", custom: { name: "sql" } },
    };
    const translated = translation(pair, request);
    expect(jsonOf(translated.body)).toMatchObject({
      tools: [{ name: "sql" }],
      tool_choice: { type: "tool", name: "sql" },
      messages: [{}, { content: [{ type: "tool_use", input: { input: "select 1" } }] }, {}],
    });
    const content = [{ type: "tool_use", id: "b", name: "sql", input: { input: "select 2" } }];
    expect(
      jsonOf(translated.answer(bytesOf({ ...message, content, stop_reason: "tool_use" }), NO_USAGE)),
    ).toMatchObject({
      choices: [
        {
          message: { tool_calls: [{ id: "b", type: "custom", custom: { name: "sql", input: "select 2" } }] },
        },
      ],
    });
  });

  test("of Anthropic are functions at a GPT", () => {
    const request = {
      max_tokens: 9,
      messages: [{ role: "user", content: "Go." }],
      tools: [
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10_000 },
        { type: "memory_20250818", name: "memory" },
      ],
    };
    const { tools = [] } = jsonOf(translation(CLAUDE, request).body) as {
      tools?: { function: { name: string } }[];
    };
    expect(tools.map((tool) => tool.function.name)).toEqual([
      "bash",
      "str_replace_based_edit_tool",
      "memory",
    ]);
  });
});

describe("tools that are found before they are offered", () => {
  const deferred = { name: "far", input_schema: { type: "object" }, defer_loading: true };
  const search = { name: "ToolSearch", input_schema: { type: "object" } };
  const names = (request: object) => {
    const body = jsonOf(translation(CLAUDE, { max_tokens: 9, ...request }).body);
    return (body as { tools: { function: { name: string } }[] }).tools.map((tool) => tool.function.name);
  };
  const ask = { role: "user", content: "Go." };

  test("are offered once the client's search has found them", () => {
    const found = [
      ask,
      { role: "assistant", content: [{ type: "tool_use", id: "s", name: "ToolSearch", input: {} }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "s", content: [{ type: "tool_reference", tool_name: "far" }] },
        ],
      },
    ];
    expect(names({ messages: [ask], tools: [search, deferred] })).toEqual(["ToolSearch"]);
    expect(names({ messages: found, tools: [search, deferred] })).toEqual(["ToolSearch", "far"]);
  });

  test("are all offered where the vendor would search", () => {
    const regex = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
    expect(names({ messages: [ask], tools: [regex, deferred] })).toEqual(["far"]);
  });

  test("of Codex, too", () => {
    const searching = {
      type: "tool_search",
      execution: "client",
      description: "Finds.",
      parameters: { type: "object" },
    };
    const found = [
      { role: "user", content: "Go." },
      { type: "tool_search_call", call_id: "s", execution: "client", arguments: { query: "docs" } },
      { type: "tool_search_output", call_id: "s", execution: "client", tools: [TOOLS[0]] },
    ];
    const { tools = [], messages } = sent(CODEX, { input: found, tools: [searching] });
    expect(tools.map(({ name }) => name)).toEqual(["tool_search", "mcp__docs__read"]);
    expect(messages[1]?.content).toMatchObject([
      { type: "tool_use", name: "tool_search", input: { query: "docs" } },
    ]);
    expect(JSON.stringify(messages[2])).toContain("mcp__docs__");
  });
});

describe("tools that cannot be carried", () => {
  const ask = { max_tokens: 9, messages: [{ role: "user", content: "Go." }] };
  const own = { name: "f", input_schema: { type: "object" } };
  const webSearch = { type: "web_search_20250305", name: "web_search" };

  test("are refused by name where a function cannot stand in, or where their type is unknown", () => {
    for (const type of ["computer_20250124", "hologram_20270101"]) {
      expect(() => translation(CLAUDE, { ...ask, tools: [own, { type, name: "x" }] })).toThrow(type);
    }
    expect(() => translation(CODEX, { input: "Go.", tools: [FUNCTION, { type: "hologram" }] })).toThrow(
      "hologram",
    );
  });

  test("of the vendor are left out beside functions, and refused by name alone or where they are chosen", () => {
    const beside = translation(CLAUDE, { ...ask, tools: [own, webSearch] });
    expect(Object.fromEntries(beside.dropped)).toEqual({ tools: 1 });
    expect(() => translation(CLAUDE, { ...ask, tools: [webSearch] })).toThrow("`web_search_20250305`");
    const tool_choice = { type: "tool", name: "web_search" };
    expect(() => translation(CLAUDE, { ...ask, tools: [own, webSearch], tool_choice })).toThrow(
      "tool_choice",
    );
  });
});
