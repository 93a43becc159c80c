import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { usageBound } from "#gateway/limits/usage-bound.ts";
import type { SurfaceName } from "#gateway/surface-facts.ts";

const asked = (surface: SurfaceName, body: Record<string, unknown>, uploaded = false) => ({
  surface,
  bytes: Buffer.byteLength(JSON.stringify(body)),
  uploaded,
  member: (name: string) => body[name],
});
const bound = (surface: SurfaceName, body: Record<string, unknown>, contextTokens: number | null = null) =>
  usageBound(asked(surface, body), contextTokens);

describe("the input", () => {
  test("is bounded by a token for every byte and 16 per message, whatever the text", () => {
    const message = fc.record({ role: fc.constant("user"), content: fc.string({ unit: "binary" }) });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        // No tokenizer makes more tokens of a text than it has bytes.
        const most = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) + 16, 0);
        expect(bound("chat.completions", { messages }).inputTokens).toBeGreaterThanOrEqual(most);
      }),
    );
  });

  const text = [{ role: "user", content: [{ type: "text", text: "a" }] }];
  const image = [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://x/1.png" } }] }];
  const nested = [
    { role: "user", content: [{ type: "tool_result", content: [{ type: "image", source: {} }] }] },
  ];
  test.each([
    ["text alone", { messages: text }, false],
    ["an image", { messages: image }, true],
    ["an image in a tool's result", { messages: nested }, true],
    ["earlier turns that the provider keeps", { input: "a", previous_response_id: "r" }, true],
    ["a part of a type that nobody knows", { input: [{ type: "hologram" }] }, true],
  ] as const)("of %s", (_, body, whole) => {
    const surface = "messages" in body ? "chat.completions" : "responses";
    expect(bound(surface, body, 200_000).inputTokens >= 200_000).toBe(whole);
  });

  test("of a file is all that the model takes in", () => {
    expect(usageBound(asked("audio.transcriptions", { model: "m" }, true), 16_000).inputTokens).toBe(16_000);
    expect(usageBound(asked("audio.transcriptions", { model: "m" }, true), null).inputTokens).toBe(1_048_576);
  });
});

describe("the output", () => {
  test.each([
    ["chat.completions", { max_tokens: 10 }, 10],
    ["chat.completions", { max_completion_tokens: 10, max_tokens: 20 }, 20],
    ["chat.completions", { max_tokens: 10, n: 3 }, 30],
    ["messages", { max_tokens: 10 }, 10],
    ["responses", { max_output_tokens: 10 }, 10],
    ["embeddings", { input: "a", max_tokens: 10 }, 0],
    ["rerank", { documents: ["a"] }, 0],
  ] as const)("of %s with %j is bounded", (surface, body, outputTokens) => {
    expect(bound(surface, body, 200_000)).toMatchObject({ outputTokens, outputBounded: true });
  });

  test("is all that the model can write where the client sets no limit", () => {
    expect(bound("chat.completions", {}, 32_000)).toMatchObject({
      outputTokens: 32_000,
      outputBounded: true,
    });
    expect(bound("chat.completions", {}, 400_000)).toMatchObject({
      outputTokens: 131_072,
      outputBounded: true,
    });
    expect(bound("chat.completions", {})).toMatchObject({ outputTokens: 131_072, outputBounded: false });
  });

  test("an output limit that is no whole number above 0 is none", () => {
    for (const max_tokens of [0, -1, 1.5, "7", null])
      expect(bound("chat.completions", { max_tokens }, 1000).outputTokens).toBe(1000);
  });
});

test("images asked for and characters to be spoken are counted", () => {
  expect(bound("images.generations", { prompt: "a", n: 3 }).images).toBe(3);
  expect(bound("images.generations", { prompt: "a" }).images).toBe(1);
  expect(bound("audio.speech", { input: "abc" }).characters).toBe(3);
});

test("a file to transcribe holds no more sound than its size allows at Opus's lowest rate", () => {
  const sound = (uploadBytes: number | null, surface: SurfaceName = "audio.transcriptions") =>
    usageBound({ ...asked(surface, { model: "whisper-1" }, true), uploadBytes }, null).soundSeconds;
  expect([sound(750_000), sound(751), sound(null), sound(750_000, "images.edits")]).toEqual([
    1000, 2, 34_953, 0,
  ]);
});
