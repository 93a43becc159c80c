import { expect, test } from "bun:test";
import { join } from "node:path";
import { GatewayError } from "#gateway/errors.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import { betasIn, messagesOfConverse } from "#gateway/translate/converse/request-in.ts";
import { objectInBytes } from "#gateway/translate/exact-json.ts";
import type { Pair } from "#gateway/translate/translate.ts";
import { bytesOf, type Golden, translation } from "./kit.ts";

/** Objects that JavaScript cannot convert to text, a number that no double has, and nothing. */
const ODD = [
  ...['{"toString":1,"valueOf":1}', '[{"toString":1,"valueOf":1}]', '{"type":{"toString":1,"valueOf":1}}'],
  ...["1e999", "[1e999]", "{}"],
];

/** Members that the fixtures lack. */
const MORE: Readonly<Record<Pair["from"], object>> = {
  chat: { metadata: {}, top_k: 1, service_tier: "auto", reasoning_details: [{}] },
  messages: { metadata: {}, top_k: 1, service_tier: "auto" },
  responses: { metadata: {}, service_tier: "auto", text: { format: {} }, reasoning: {} },
  gemini: {
    contents: [
      { role: "user", parts: [{ text: "x" }, { inlineData: { mimeType: "image/png", data: "AA" } }] },
    ],
    generationConfig: { topK: 1, stopSequences: ["x"], thinkingConfig: { thinkingBudget: 1 } },
    tools: [{ functionDeclarations: [{ name: "f", parameters: { type: "object" } }] }],
    toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  },
};

const CONVERSE = {
  messages: [
    { role: "user", content: [{ image: { format: "png", source: { bytes: "AA" } } }] },
    { role: "user", content: [{ document: { name: "n", format: "md", source: { bytes: "AA" } } }] },
    { role: "assistant", content: [{ reasoningContent: { redactedContent: "AA" } }] },
    { role: "assistant", content: [{ toolUse: { toolUseId: "t", name: "f", input: {} } }] },
    {
      role: "user",
      content: [{ toolResult: { toolUseId: "t", content: [{ text: "r" }], status: "error" } }],
    },
  ],
  inferenceConfig: { maxTokens: 1, stopSequences: ["x"] },
  additionalModelRequestFields: { anthropic_beta: ["context-1m-2025-08-07"] },
  toolConfig: { tools: [{ toolSpec: { name: "f", inputSchema: { json: {} } } }], toolChoice: { auto: {} } },
};

const pathsIn = (value: unknown, path: string[] = []): string[][] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, held]) => [[...path, name], ...pathsIn(held, [...path, name])]);

/** The value in JSON, once for each of its members and each odd value in its place. */
function* oddly(value: object): Generator<[what: string, bytes: Uint8Array]> {
  for (const path of pathsIn(value)) {
    const copy = structuredClone(value);
    const holder = path.slice(0, -1).reduce<object>((at, name) => Reflect.get(at, name), copy);
    Reflect.set(holder, path.at(-1) ?? "", "@odd@");
    for (const json of ODD) {
      const text = JSON.stringify(copy).replace('"@odd@"', json);
      yield [`${path.join(".")}: ${json}`, new TextEncoder().encode(text)];
    }
  }
}

/** What was neither translated nor refused. */
function failures(value: object, translated: (bytes: Uint8Array) => unknown): string[] {
  const failed: string[] = [];
  for (const [what, bytes] of oddly(value)) {
    try {
      translated(bytes);
    } catch (error) {
      if (!(error instanceof GatewayError && error.type === "invalid_request"))
        failed.push(`${what}: ${error}`);
    }
  }
  return failed;
}

const TARGETS = ["chat", "messages", "gemini", "responses"] as const;
const FIXTURES = join(import.meta.dir, "../fixtures/translate");

test("whatever is in a member's place, a call is translated or refused by the member's name", async () => {
  const bodies = Object.entries(MORE).map(([from, request]) => ({ pair: { from }, request }) as Golden);
  for (const file of [...new Bun.Glob("*.{schema,thinking,tools}.json").scanSync(FIXTURES)].sort()) {
    const golden: Golden = await Bun.file(join(FIXTURES, file)).json();
    bodies.push({ ...golden, request: { ...golden.request, ...MORE[golden.pair.from] } });
  }
  expect(bodies.length).toBeGreaterThan(10);
  for (const { pair, request } of bodies) {
    for (const to of TARGETS.filter((one) => one !== pair.from)) {
      const found = failures(request, (bytes) => translation({ ...pair, to }, bytes));
      expect([pair.from, to, found]).toEqual([pair.from, to, []]);
    }
  }
});

test("so is a call in Converse's form, with what its body says of headers", () => {
  const read = (bytes: Uint8Array) => {
    const request = objectInBytes(bytes) ?? {};
    betasIn(request["additionalModelRequestFields"]);
    return messagesOfConverse(request, "claude-opus-4-6");
  };
  expect(failures(CONVERSE, read)).toEqual([]);
  expect(read(bytesOf(CONVERSE))).toMatchObject({ max_tokens: 1 });
  expect(betasIn({ anthropic_beta: ["a-1", "b"] })).toBe("a-1,b");
  for (const wrong of ["a\r\nx-evil: 1", "a,b", "é", ""])
    expect(() => betasIn({ anthropic_beta: [wrong] })).toThrow("`anthropic_beta` must be a list of names.");
});

test("whatever a provider answers, it is translated or is no answer", async () => {
  for (const file of [...new Bun.Glob("*.json").scanSync(FIXTURES)].sort()) {
    const golden: Golden = await Bun.file(join(FIXTURES, file)).json();
    const translated = translation(golden.pair, golden.request, golden);
    const usage = WIRES[golden.pair.to].readAnswer(bytesOf({}), PROVIDERS.openai).usage;
    const found = failures(golden.answer ?? {}, (bytes) => translated.answer(bytes, usage));
    expect([file, found]).toEqual([file, []]);
  }
});
