import { expect, test } from "bun:test";
import { NO_USAGE } from "#shared/usage.ts";
import { eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

// Providers of the chat format number the parallel calls of a stream in ways of their own.

const PAIR = { from: "messages", to: "chat" } as const;
const REQUEST = {
  model: "x",
  max_tokens: 100,
  messages: [{ role: "user", content: "Weather?" }],
  tools: [{ name: "weather", input_schema: { type: "object" } }],
};
const chunk = (call: object) => ({
  id: "c",
  model: "m",
  choices: [{ index: 0, delta: { tool_calls: [call] } }],
});
const named = (id: string, city: string, more: object = { index: 0 }) =>
  chunk({
    ...more,
    id,
    type: "function",
    function: { name: "weather", arguments: JSON.stringify({ city }) },
  });
const END = { id: "c", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };

const callsOf = (events: object[]): [id: string, input: unknown][] => {
  const sse = relayed(PAIR, translation(PAIR, REQUEST), [
    new TextEncoder().encode(sseOf([...events, END, "[DONE]"])),
  ]);
  const calls: [string, string][] = [];
  for (const { data } of eventsIn(sse)) {
    const { content_block: block, delta } = data as {
      content_block?: { id: string };
      delta?: { partial_json?: string };
    };
    if (block) calls.push([block.id, ""]);
    const last = calls.at(-1);
    if (last && delta?.partial_json) last[1] += delta.partial_json;
  }
  return calls.map(([id, text]) => [id, JSON.parse(text)]);
};
const BOTH = [
  ["c1", { city: "A" }],
  ["c2", { city: "B" }],
];

test("another id opens another call, whatever its index", () => {
  expect(callsOf([named("c1", "A"), named("c2", "B")]) as unknown[]).toEqual(BOTH);
  expect(callsOf([named("c1", "A", {}), named("c2", "B", {})]) as unknown[]).toEqual(BOTH);
});

test("a call goes on where a chunk repeats its id, has none, or one of its own without a name", () => {
  for (const id of [{ id: "c1" }, { id: "" }, {}, { id: "chunk-2" }]) {
    const begun = chunk({ index: 0, id: "c1", function: { name: "weather", arguments: '{"city":' } });
    const rest = chunk({ index: 0, ...id, function: { arguments: '"A"}' } });
    expect(callsOf([begun, rest, named("c2", "B", { index: 1 })]) as unknown[]).toEqual(BOTH);
  }
});

test("a name after whole arguments begins another call where calls have no ids", () => {
  const calls = callsOf(["A", "B"].map((city) => named("", city)));
  expect(calls.map(([, input]) => input)).toEqual([{ city: "A" }, { city: "B" }]);
});

test("a call whose name comes after its id has both", () => {
  const rest = chunk({ index: 0, function: { name: "weather", arguments: '{"city":"A"}' } });
  const events = [chunk({ index: 0, id: "c1", function: { arguments: "" } }), rest];
  const sse = relayed(PAIR, translation(PAIR, REQUEST), [new TextEncoder().encode(sseOf([...events, END]))]);
  expect(sse).toContain('"id":"c1","name":"weather"');
});

test("a whole answer keeps its calls apart", () => {
  const calls = ["c1", "c2"].map((id) => ({ id, function: { name: "weather", arguments: "{}" } }));
  const answer = {
    id: "c",
    model: "m",
    choices: [{ message: { tool_calls: calls }, finish_reason: "tool_calls" }],
  };
  const bytes = new TextEncoder().encode(JSON.stringify(answer));
  const { content } = jsonOf(translation(PAIR, REQUEST).answer(bytes, NO_USAGE)) as {
    content: { id: string }[];
  };
  expect(content.map(({ id }) => id)).toEqual(["c1", "c2"]);
});
