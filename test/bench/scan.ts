import { CALL } from "#gateway/http/deciding-names.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { splice } from "#gateway/http/splice.ts";

/**
 * What it costs to check a chat body and to write the model into it, beside the parse and print that would do the same
 * (and change numbers on the way). `bun test/bench/scan.ts`; takes about 5 s.
 */
const SIZES = [1_000, 200_000, 1_000_000, 10_000_000] as const;

/** A conversation of about `size` bytes: turns of some hundred characters with quotes, line ends and accents. */
function chatBody(size: number): Uint8Array {
  const turn = 'She said "hi" to the café\nand the quick brown fox. '.repeat(12);
  const messages = Array.from({ length: Math.max(1, Math.round(size / 680)) }, (_, index) => ({
    role: index % 2 ? "assistant" : "user",
    content: size < 2_000 ? turn : `${index} ${turn}`,
  }));
  return new TextEncoder().encode(JSON.stringify({ model: "auto", route: "coding", stream: true, messages }));
}

/** An agent's call: half of it are tools with schemas, which the scan looks into. */
function agentBody(size: number): Uint8Array {
  const properties = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [
      `name_${index}`,
      { type: "string", description: "What it is. ".repeat(8) },
    ]),
  );
  const tools = Array.from({ length: Math.max(1, Math.round(size / 2600)) }, (_, index) => ({
    type: "function",
    function: {
      name: `tool_${index}`,
      parameters: { type: "object", properties, required: Object.keys(properties) },
    },
  }));
  const { messages } = JSON.parse(new TextDecoder().decode(chatBody(size / 2)));
  return new TextEncoder().encode(
    JSON.stringify({ model: "auto", route: "coding", stream: true, tools, messages }),
  );
}

/** One image of about `size` bytes in base64: a single long string. */
const imageBody = (size: number): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ model: "auto", route: "coding", input: "A".repeat(size) }));

/** Milliseconds per run: the best of five rounds, since a shared machine only ever adds. */
function milliseconds(run: () => unknown, bytes: number): number {
  const runs = Math.max(3, Math.round(3e7 / bytes));
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now();
    for (let count = 0; count < runs; count++) run();
    return (performance.now() - start) / runs;
  });
  return Math.min(...rounds);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

for (const [kind, make] of [
  ["chat", chatBody],
  ["agent", agentBody],
  ["image", imageBody],
] as const) {
  for (const size of SIZES) {
    const bytes = make(size);
    const scan = milliseconds(() => scanJson(bytes, CALL), bytes.length);
    const both = milliseconds(
      () => splice(scanJson(bytes, CALL), { model: "gpt-5", askForUsage: true }),
      bytes.length,
    );
    const parse = milliseconds(() => JSON.parse(UTF8.decode(bytes)), bytes.length);
    const print = milliseconds(
      () => new TextEncoder().encode(JSON.stringify({ ...JSON.parse(UTF8.decode(bytes)), model: "gpt-5" })),
      bytes.length,
    );
    const ms = (value: number) => `${value.toFixed(4)} ms`.padStart(12);
    console.log(
      `${kind.padEnd(5)} ${String(bytes.length).padStart(9)} B  scan${ms(scan)}  scan+splice${ms(both)}` +
        `  parse${ms(parse)}  parse+print${ms(print)}  parse/scan ${(parse / scan).toFixed(1)}x  print/splice ${(print / both).toFixed(1)}x`,
    );
  }
}
