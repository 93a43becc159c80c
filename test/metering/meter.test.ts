import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Meter, streamMeter } from "#gateway/metering/meter.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";

const utf8 = new TextEncoder();
const text = (bytes: Uint8Array | null) =>
  bytes ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : null;

const chatMeter = (withholdUsage: boolean): Meter =>
  streamMeter(WIRES.chat, PROVIDERS.openai, { withholdUsage });

const DELTA =
  '{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hé"}}],"usage":null}';
const ROLE = '{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}';
const USAGE = '{"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}';
const FILTER = '{"id":"","choices":[],"prompt_filter_results":[]}';

function pass(meter: Meter, chunks: readonly Uint8Array[]): Uint8Array {
  const passed = [...chunks.map((chunk) => meter.watch(chunk)), meter.rest()];
  return Buffer.concat(passed.filter((bytes) => bytes !== null));
}

test("without withholding, the client gets the very array that came", () => {
  const meter = chatMeter(false);
  const chunk = utf8.encode(`data: ${USAGE}\n`);
  expect(meter.watch(chunk)).toBe(chunk);
  expect(meter.rest()).toBeNull();
});

test("with withholding, a chunk of whole events goes on as the very array that came", () => {
  const meter = chatMeter(true);
  const chunk = utf8.encode(`data: ${ROLE}\n\ndata: ${DELTA}\n\n: ping\n\n`);
  expect(meter.watch(chunk)).toBe(chunk);
});

const lineBreaks = fc.constantFrom("\n", "\r\n", "\r");
const blocks = fc.array(
  fc.constantFrom(
    { lines: [`data: ${DELTA}`], withheld: false },
    { lines: [`data: ${ROLE}`], withheld: false },
    { lines: [`data: ${FILTER}`], withheld: false },
    { lines: [`data: ${USAGE}`], withheld: true },
    { lines: [`event: usage`, `data:${USAGE}`, "id: 7"], withheld: true },
    {
      lines: [`data: ${USAGE.replaceAll(",", ",\ndata: ")}`].flatMap((it) => it.split("\n")),
      withheld: true,
    },
    { lines: [": OPENROUTER PROCESSING"], withheld: false },
    { lines: ["event: ping"], withheld: false },
    { lines: ["data: not JSON"], withheld: false },
    { lines: ["data: [DONE]"], withheld: false },
  ),
  { maxLength: 8 },
);
const cuts = fc.array(fc.nat({ max: 900 }), { maxLength: 12 });

function cutAt(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const ends = [...new Set(positions)].sort((a, b) => a - b).filter((at) => at < bytes.byteLength);
  return [...ends, bytes.byteLength].map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
}

test("the stream goes on less exactly the usage events, wherever it is cut and however its lines end", () => {
  fc.assert(
    fc.property(blocks, lineBreaks, cuts, fc.boolean(), (parts, eol, positions, bom) => {
      const whole = parts.map(({ lines, withheld }) => ({ block: [...lines, "", ""].join(eol), withheld }));
      const start = bom ? "\ufeff" : "";
      const stream = utf8.encode(start + whole.map(({ block }) => block).join(""));
      const left = start + whole.flatMap(({ block, withheld }) => (withheld ? [] : [block])).join("");
      expect(text(pass(chatMeter(true), cutAt(stream, positions)))).toBe(left);
      const bytewise = Array.from(stream, (byte) => Uint8Array.of(byte));
      expect(text(pass(chatMeter(true), bytewise))).toBe(left);
      expect(text(pass(chatMeter(false), cutAt(stream, positions)))).toBe(text(stream));
    }),
    { numRuns: 150 },
  );
});

/** Running figures, an error and a late tier among deltas that tell nothing, some of which quote words of the wire. */
const told = fc.array(
  fc.constantFrom(
    { choices: [{ index: 0, delta: { content: "a" } }], usage: null },
    { choices: [{ index: 0, delta: { content: '"usage":{} [DONE] "error":{}' } }] },
    {
      choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 1 },
    },
    { choices: [], service_tier: "flex", usage: { prompt_tokens: 3, completion_tokens: 2 }, model: "m" },
    { choices: [], x_groq: { usage: { prompt_tokens: 4, completion_tokens: 2 } }, usage: null },
    { error: { message: "overloaded" } },
    { type: "message_start", message: { model: "m", usage: { input_tokens: 5, output_tokens: 1 } } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: '{"message_delta"}' } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
    { type: "response.output_text.delta", delta: "a" },
    { type: "response.completed", response: { model: "m", usage: { input_tokens: 1, output_tokens: 2 } } },
    { type: "error", error: { type: "overloaded_error" } },
    "[DONE]",
  ),
  { maxLength: 12 },
);

test("what is read of a stream is the same, wherever it is cut and however its lines end", () => {
  fc.assert(
    fc.property(
      told,
      lineBreaks,
      cuts,
      fc.constantFrom("chat", "messages", "responses"),
      (data, eol, at, wire) => {
        const texts = data.map((it) => (typeof it === "string" ? it : JSON.stringify(it)));
        const stream = utf8.encode(texts.map((it) => ["event: x", `data: ${it}`, "", ""].join(eol)).join(""));
        const seen = (chunks: readonly Uint8Array[]) => {
          const meter = streamMeter(WIRES[wire as "chat"], PROVIDERS.openai, { withholdUsage: false });
          pass(meter, chunks);
          return [meter.contentSeen(), meter.terminalSeen(), meter.reading(false)];
        };
        const bytewise = seen(Array.from(stream, (byte) => Uint8Array.of(byte)));
        expect(seen([stream])).toEqual(bytewise);
        expect(seen(cutAt(stream, at))).toEqual(bytewise);
      },
    ),
    { numRuns: 300 },
  );
});

test("a stream that breaks off anywhere loses no byte, but those of a whole usage event", () => {
  const stream = utf8.encode(`data: ${DELTA}\n\ndata: ${USAGE}\n\ndata: [DONE]\n\n`);
  const [from, to] = [`data: ${DELTA}\n\n`, `data: ${USAGE}`].map((part) => utf8.encode(part).byteLength) as [
    number,
    number,
  ];
  for (let end = 0; end <= stream.byteLength; end += 1) {
    const expected = Buffer.from(stream.slice(0, end));
    const cutFrom = Math.min(from, end);
    const cutTo = end < from + to ? cutFrom : Math.min(from + to + 2, end);
    const left = Buffer.concat([expected.subarray(0, cutFrom), expected.subarray(cutTo)]);
    expect(text(pass(chatMeter(true), [stream.slice(0, end)]))).toBe(left.toString());
  }
});

test("an event that its beginning rules out as usage is not held", () => {
  const meter = chatMeter(true);
  const [head, tail] = [
    utf8.encode('data: {"id":"c","choices":[{"index":0,'),
    utf8.encode('"delta":{"content":"a"}}]}\n\n'),
  ];
  expect(text(meter.watch(head))).toBe(text(head));
  expect(text(meter.watch(tail))).toBe(text(tail));
});

test("an event too large to be a usage chunk is not held", () => {
  const meter = chatMeter(true);
  const head = utf8.encode(`data: {"padding":"${"x".repeat(20_000)}`);
  expect(meter.watch(head)).toBe(head);
});

test("a comment is not held", () => {
  const meter = chatMeter(true);
  expect(text(meter.watch(utf8.encode(": wait")))).toBe(": wait");
});

test("a [DONE] without the blank line after it ends the stream all the same", () => {
  for (const ending of ["", "\n"]) {
    const meter = chatMeter(false);
    meter.watch(utf8.encode(`data: ${USAGE}\n\ndata: [DONE]${ending}`));
    expect(meter.terminalSeen()).toBe(false);
    meter.rest();
    expect(meter.terminalSeen()).toBe(true);
  }
});

test("content is a text, a tool call or reasoning, not a role or an empty delta", () => {
  const seen = (delta: object) => {
    const meter = chatMeter(false);
    meter.watch(utf8.encode(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`));
    return meter.contentSeen();
  };
  expect(
    [{ role: "assistant" }, { content: "" }, { content: null }, { tool_calls: [] }, {}].map(seen),
  ).toEqual(Array(5).fill(false));
  expect(
    [
      { content: "a" },
      { reasoning_content: "a" },
      { reasoning: "a" },
      { tool_calls: [{}] },
      { refusal: "a" },
      { audio: {} },
    ].map(seen),
  ).toEqual(Array(6).fill(true));
});

test("content on the messages wire is a block or delta with something in it, not a ping or an empty block", () => {
  const seen = (event: object) => {
    const meter = streamMeter(WIRES.messages, PROVIDERS.anthropic, { withholdUsage: false });
    meter.watch(utf8.encode(`data: ${JSON.stringify(event)}\n\n`));
    return meter.contentSeen();
  };
  const start = (content_block: object) => seen({ type: "content_block_start", index: 0, content_block });
  const delta = (it: object) => seen({ type: "content_block_delta", index: 0, delta: it });
  expect([
    seen({ type: "ping" }),
    seen({ type: "message_start", message: { content: [] } }),
    start({ type: "text", text: "" }),
    start({ type: "thinking", thinking: "", signature: "" }),
    delta({ type: "text_delta", text: "" }),
    delta({ type: "input_json_delta", partial_json: "" }),
  ]).toEqual(Array(6).fill(false));
  expect([
    start({ type: "tool_use", id: "t", name: "f", input: {} }),
    delta({ type: "text_delta", text: "a" }),
    delta({ type: "thinking_delta", thinking: "a" }),
    delta({ type: "input_json_delta", partial_json: "{" }),
  ]).toEqual(Array(4).fill(true));
});

test("words of the wire inside an answer's text do not count", () => {
  const meter = chatMeter(true);
  const text = '"usage":{"prompt_tokens":9} "error":{} [DONE] "choices":[],';
  const chunk = utf8.encode(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`,
  );
  for (let index = 0; index < 3; index += 1) expect(meter.watch(chunk)).toBe(chunk);
  expect([meter.terminalSeen(), meter.reading(true).usageSource]).toEqual([false, "none"]);
});

test("no bytes make a meter throw", () => {
  const json = fc.json().map((it) => `data: ${it}\n\n`);
  const shaped = fc
    .record({
      type: fc.constantFrom("message_start", "message_delta", "error", "constructor", "__proto__"),
      message: fc.jsonValue(),
      usage: fc.jsonValue(),
      choices: fc.jsonValue(),
      delta: fc.jsonValue(),
      error: fc.jsonValue(),
    })
    .map((it) => `data: ${JSON.stringify(it)}\n\n`);
  const stream = fc
    .array(fc.oneof(json, shaped, fc.string()), { maxLength: 8 })
    .map((parts) => utf8.encode(parts.join("")));
  fc.assert(
    fc.property(
      fc.oneof(stream, fc.uint8Array({ maxLength: 200 })),
      fc.constantFrom("chat", "messages"),
      (bytes, wire) => {
        const meter = streamMeter(WIRES[wire as "chat"], PROVIDERS.openai, { withholdUsage: true });
        pass(meter, [bytes]);
        const { usage } = meter.reading(true);
        for (const count of Object.values(usage)) {
          expect(count === null || (Number.isInteger(count) && count >= 0)).toBe(true);
        }
        expect(WIRES[wire as "chat"].readAnswer(bytes, PROVIDERS.openai).usage).toBeDefined();
      },
    ),
    { numRuns: 300 },
  );
});
