import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseExactly } from "#gateway/translate/exact-json.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { bytesOf, eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/);
/** Claude models refuse a text of white space alone, so that it is left out on the way. */
const text = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }).filter((it) => it.trim() !== "");
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const input = fc.dictionary(name, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), {
  maxKeys: 3,
});

/** A step of a conversation that both formats can express. */
const exchange = fc.record({
  ask: text,
  say: fc.option(text, { nil: null }),
  calls: fc.uniqueArray(fc.record({ id, name, input, result: text }), {
    maxLength: 3,
    selector: (call) => call.id,
  }),
});
type Exchange = typeof exchange extends fc.Arbitrary<infer T> ? T : never;

const chatMessages = ({ ask, say, calls }: Exchange) => [
  { role: "user", content: ask },
  ...(say === null && calls.length === 0
    ? []
    : [
        {
          role: "assistant",
          content: say,
          ...(calls.length > 0
            ? {
                tool_calls: calls.map((call) => ({
                  id: call.id,
                  type: "function",
                  function: { name: call.name, arguments: JSON.stringify(call.input) },
                })),
              }
            : {}),
        },
      ]),
  ...calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: call.result })),
];

test("a conversation that goes to messages and back to chat says the same", () => {
  fc.assert(
    fc.property(fc.array(exchange, { minLength: 1, maxLength: 4 }), text, (exchanges, system) => {
      // Neighbours of one side become one turn in the messages format, so only alternating ones can come back.
      const turns = exchanges.map((it, turn) => ({
        ...it,
        say: it.say ?? "ok",
        // An id that comes twice would be replaced.
        calls: it.calls.map((call) => ({ ...call, id: `${turn}_${call.id}` })),
      }));
      const messages = [
        { role: "system", content: system },
        ...turns.flatMap((turn) => [
          ...chatMessages(turn),
          ...(turn.calls.length > 0 ? [{ role: "assistant", content: "done" }] : []),
        ]),
        { role: "user", content: "last" },
      ];
      const there = jsonOf(translation({ from: "chat", to: "messages" }, { messages }).body) as object;
      const back = jsonOf(translation({ from: "messages", to: "chat" }, there).body) as { messages: unknown };
      expect(back.messages).toEqual(messages);
    }),
    { numRuns: 60 },
  );
});

/** An answer that every format can express. */
const answer = fc.record({
  text: fc.option(text, { nil: null }),
  calls: fc.uniqueArray(fc.record({ id, name, input }), { maxLength: 3, selector: (call) => call.id }),
});

test("a chat stream and the whole chat answer become the same message", () => {
  fc.assert(
    fc.property(answer, fc.integer({ min: 1, max: 5 }), (it, size) => {
      const request = { max_tokens: 9, messages: [{ role: "user", content: "x" }] };
      const translated = translation({ from: "messages", to: "chat" }, request);
      const calls = it.calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: JSON.stringify(call.input) },
      }));
      const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
      const message = {
        role: "assistant",
        content: it.text,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      };
      const whole = translated.answer(
        bytesOf({ id: "c", model: "m", choices: [{ index: 0, message, finish_reason }] }),
        NO_USAGE,
      );
      const chunk = (delta: object, finish: string | null = null) => ({
        id: "c",
        model: "m",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
      const events = [
        chunk({ role: "assistant", content: "" }),
        ...slices(it.text ?? "", size).map((content) => chunk({ content })),
        ...calls.flatMap((call, index) => [
          chunk({ tool_calls: [{ ...call, index, function: { name: call.function.name, arguments: "" } }] }),
          ...slices(call.function.arguments, size).map((part) =>
            chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
          ),
        ]),
        chunk({}, finish_reason),
        "[DONE]",
      ];
      const sse = relayed({ from: "messages", to: "chat" }, translated, [
        new TextEncoder().encode(sseOf(events)),
      ]);
      expect(contentOf(sse)).toEqual((jsonOf(whole) as { content: Block[] }).content);
    }),
    { numRuns: 80, examples: [[{ text: "\u2028", calls: [] }, 1]] },
  );
});

const slices = (whole: string, size: number): string[] =>
  whole === "" ? [] : (whole.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? []);

type Block = { type: string; text?: string; input?: unknown };

/** What a reader of message events puts together; every block must open, grow and close in turn. */
function contentOf(sse: string): Block[] {
  const blocks: Block[] = [];
  let open = -1;
  let json = "";
  for (const { data } of eventsIn(sse)) {
    const event = data as {
      type: string;
      index: number;
      content_block: Block;
      delta: Record<string, string>;
    };
    if (event.type === "content_block_start") {
      expect([open, event.index]).toEqual([-1, blocks.length]);
      blocks.push({ ...event.content_block });
      open = event.index;
      json = "";
    } else if (event.type === "content_block_delta") {
      expect(event.index).toBe(open);
      const block = blocks[open]!;
      if (event.delta["type"] === "text_delta") block.text = `${block.text}${event.delta["text"]}`;
      else json += event.delta["partial_json"];
      if (json !== "") {
        try {
          block.input = JSON.parse(json);
        } catch {}
      }
    } else if (event.type === "content_block_stop") open = -1;
  }
  expect(open).toBe(-1);
  return blocks;
}

test("numbers keep every digit in tool arguments, both ways", () => {
  const numbers = [
    "12345678901234567890",
    "-98765432109876543210",
    "1e400",
    "0.12345678901234567891",
    "9007199254740993",
  ];
  for (const number of numbers) {
    const arguments_ = `{"n":${number}}`;
    const chat = {
      messages: [
        { role: "user", content: "x" },
        {
          role: "assistant",
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: arguments_ } }],
        },
        { role: "tool", tool_call_id: "c", content: "1" },
      ],
    };
    const there = translation({ from: "chat", to: "messages" }, chat);
    expect(new TextDecoder().decode(there.body)).toContain(`"input":${arguments_}`);
    const message = `{"id":"m","model":"x","content":[{"type":"tool_use","id":"t","name":"f","input":${arguments_}}],"stop_reason":"tool_use"}`;
    const back = there.answer(new TextEncoder().encode(message), NO_USAGE);
    expect(new TextDecoder().decode(back ?? new Uint8Array())).toContain(
      JSON.stringify(arguments_).slice(1, -1),
    );
  }
});

test("numbers that a double holds are plain numbers, however they are written", () => {
  expect(
    parseExactly('{"temperature":1.0,"max":1e3,"long":0.30000000000000004,"pad":"1234567890123456"}'),
  ).toEqual({
    temperature: 1,
    max: 1000,
    long: 0.30000000000000004,
    pad: "1234567890123456",
  });
});

test("ids of tools that the other format does not take still match their results", () => {
  const ids = ["functions.get:0", "call/1", "ü"];
  const messages = [
    { role: "user", content: "x" },
    {
      role: "assistant",
      tool_calls: ids.map((one) => ({ id: one, type: "function", function: { name: "f", arguments: "{}" } })),
    },
    ...ids.map((one) => ({ role: "tool", tool_call_id: one, content: one })),
  ];
  const sent = jsonOf(translation({ from: "chat", to: "messages" }, { messages }).body) as {
    messages: { content: { id?: string; tool_use_id?: string }[] }[];
  };
  const made = sent.messages[1]?.content.map(({ id: one }) => one);
  expect(made).toEqual(sent.messages[2]!.content.map(({ tool_use_id }) => tool_use_id));
  expect(new Set(made).size).toBe(ids.length);
  for (const one of made ?? []) expect(one).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});

test("reasoning that was given to a responses or chat client goes back to its vendor as it was", () => {
  const message = {
    id: "m",
    model: "x",
    stop_reason: "end_turn",
    content: [
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "redacted_thinking", data: "b3Bh" },
      { type: "text", text: "42" },
    ],
  };
  const responses = { from: "responses", to: "messages" } as const;
  const include = ["reasoning.encrypted_content"];
  const told = jsonOf(translation(responses, { input: "x", include }).answer(bytesOf(message), NO_USAGE)) as {
    output: object[];
  };
  const input = [{ role: "user", content: "x" }, ...told.output, { role: "user", content: "sure?" }];
  const again = jsonOf(translation(responses, { input, include }).body) as {
    messages: { content: unknown }[];
  };
  expect(again.messages[1]?.content).toEqual(message.content);

  const chat = { from: "chat", to: "messages" } as const;
  const first = { role: "user", content: "x" };
  const completion = jsonOf(translation(chat, { messages: [first] }).answer(bytesOf(message), NO_USAGE)) as {
    choices: { message: object }[];
  };
  const messages = [first, completion.choices[0]?.message, { role: "user", content: "sure?" }];
  const resent = jsonOf(translation(chat, { messages }).body) as { messages: { content: unknown }[] };
  expect(resent.messages[1]?.content).toEqual(message.content);
});
