import { expect, test } from "bun:test";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";
import { cpuMs } from "#test/support/cpu-time.ts";

const utf8 = (value: object) => Buffer.from(JSON.stringify(value));

/** Of a whole answer, and of the stream that ends in it. */
function sourcesOf(type: string): string[] {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const response = { id: "r", status: "completed", model: "gpt-5.1", output: [{ type }], usage };
  const stream = WIRES.responses.openStream(PROVIDERS.openai);
  stream.event(utf8({ type: "response.completed", response }));
  const whole = WIRES.responses.readAnswer(utf8(response), PROVIDERS.openai);
  return [whole.usageSource, stream.reading(true).usageSource];
}

test("an answer that used a tool of the provider's own, which is billed besides, tells a lower bound", () => {
  for (const type of ["time_travel_call", "code_interpreter_call", "image_generation_call"]) {
    expect([type, ...sourcesOf(type)]).toEqual([type, "partial", "partial"]);
  }
  for (const type of [
    "message",
    "reasoning",
    "function_call",
    "web_search_call",
    "file_search_call",
    "mcp_call",
  ]) {
    expect([type, ...sourcesOf(type)]).toEqual([type, "provider", "provider"]);
  }
});

test("an event full of reports without usage is gone through once, however null is written", async () => {
  const stream = WIRES.chat.openStream(PROVIDERS.openai);
  stream.event(utf8({ choices: [{ delta: { content: "a" } }] }));
  const full = Buffer.from(`[${'{"usage" :null},'.repeat(120_000)}1]`);
  // Once through takes 50 ms; once for each report would take 10 s.
  expect(await cpuMs(() => stream.event(full), 1)).toBeLessThan(2000);
});
