import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type JsonOutline, jsonOutline } from "#gateway/metering/json-outline.ts";

const STRING_MAX = 256;
const DEPTH_MAX = 7;

const isShort = (text: string): boolean => Buffer.byteLength(JSON.stringify(text)) - 2 <= STRING_MAX;

/** What is expected of an outline, by a parser that has the whole text. */
function outlined(value: unknown, depth = 1): unknown {
  if (typeof value === "string") return isShort(value) ? value : "";
  if (typeof value !== "object" || value === null) return value;
  const isBulk = (element: unknown) => typeof element !== "string" && !(element instanceof Object);
  if (Array.isArray(value)) {
    return depth > DEPTH_MAX
      ? []
      : value.filter((element) => !isBulk(element)).map((element) => outlined(element, depth + 1));
  }
  if (depth > DEPTH_MAX) return {};
  const members = Object.entries(value).map(([name, member]) => [
    isShort(name) ? name : "",
    outlined(member, depth + 1),
  ]);
  return Object.fromEntries(members);
}

function read(text: string, sizes: readonly number[] = [65_536]): JsonOutline {
  const bytes = Buffer.from(text);
  const outline = jsonOutline();
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    outline.push(bytes.subarray(at, at + size));
    at += size;
  }
  return outline;
}

const textOf = (outline: JsonOutline): string => Buffer.from(outline.bytes()).toString();
const parsed = (outline: JsonOutline): unknown => JSON.parse(textOf(outline));

const value = fc.jsonValue({ maxDepth: 8, stringUnit: "binary" });
const root = fc.oneof(fc.array(value), fc.dictionary(fc.string({ unit: "binary" }), value));

test("an outline has every member in its place, wherever the text is cut", () => {
  fc.assert(
    fc.property(
      root,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.boolean(),
      (json, sizes, pretty) => {
        const text = JSON.stringify(json, null, pretty ? 2 : 0);
        const outline = read(text, sizes);
        expect(outline.closed()).toBe(true);
        expect(parsed(outline)).toEqual(JSON.parse(JSON.stringify(outlined(JSON.parse(text)))));
      },
    ),
    { numRuns: 500 },
  );
});

describe("the bulk of an answer leaves no trace:", () => {
  const usage = { prompt_tokens: 14, completion_tokens: 33 };
  const numbers = Array.from({ length: 3000 }, (_, n) => n / 7);

  test.each([
    ["a long text with escapes", { choices: [{ message: { content: '\\"é\n'.repeat(100_000) } }], usage }],
    ["embeddings", { data: [{ index: 0, embedding: numbers }], usage }],
    ["images", { data: [{ b64_json: "A".repeat(500_000) }], usage }],
    ["a number that never ends", { n: 1, usage, big: "9".repeat(300) }],
  ])("%s", (_, answer) => {
    const outline = read(JSON.stringify(answer));
    expect(outline.bytes().byteLength).toBeLessThan(200);
    expect(parsed(outline)).toMatchObject({ usage });
  });

  test("probabilities of single tokens", () => {
    const token = { token: "a", logprob: -1, bytes: [97], top_logprobs: [{ token: "b", logprob: -2 }] };
    const content = Array.from({ length: 1000 }, () => token);
    for (const name of ["logprobs", "logprobsResult"]) {
      const outline = read(JSON.stringify({ choices: [{ [name]: { content }, index: 0 }], usage }));
      expect(parsed(outline)).toEqual({ choices: [{ [name]: {}, index: 0 }], usage });
    }
  });

  test("more elements than an outline holds keep their number, and what comes after them is read", () => {
    const words = Array.from({ length: 100_000 }, (_, n) => ({ word: `word-${n}`, start: n, end: n + 1 }));
    const outline = read(JSON.stringify({ words, usage }));
    expect(outline.bytes().byteLength).toBeLessThan(2 * 1024 * 1024);
    const { words: kept } = parsed(outline) as { words: unknown[] };
    expect(kept).toHaveLength(words.length);
    expect(parsed(outline)).toMatchObject({ usage });
  });

  test("more members than an outline holds: there is none", () => {
    const outline = read(`{${Array.from({ length: 500_000 }, (_, n) => `"member-${n}":1`).join()}}`);
    expect([outline.closed(), textOf(outline)]).toEqual([false, ""]);
  });
});

test.each([
  ["two values", '{"usage":{}} {"usage":{}}'],
  ["text", "plain text"],
  ["a lone string", '"text"'],
  ["what is cut off", '{"usage":{"prompt_tokens":1}'],
  ["nothing", ""],
])("%s has no outline", (_, text) => {
  expect(textOf(read(text))).toBe("");
});
