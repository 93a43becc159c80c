import { frameOfEvent } from "#gateway/upstream/hosted/event-stream.ts";
import { type ScriptedUpstream, scriptedUpstream } from "../support/scripted-upstream.ts";

/**
 * Gemini, Bedrock, Azure and OpenRouter: their model calls, and what they bill for them, worked out here from what was asked
 * of them and the prices below alone, which were read from the vendors' pages.
 */

type Counts = Readonly<Record<string, number>>;
/** How the next answer is counted, in which tier, and whether its stream breaks off or waits. */
export type Asked = {
  counts: Counts;
  tier?: string;
  ending?: "cut";
  tools?: true;
  /** The second half of a stream comes after it. */
  waitsFor?: Promise<void>;
};
type Entry = { model: string; tier: string; counts: Counts };

/** Billionths of a dollar for one unit. */
const PRICES: Readonly<Record<string, Counts>> = {
  "gemini-2.5-flash": { input: 300, cached: 30, audio: 1000, output: 2500, thinking: 2500 },
  "gemini-2.5-flash-image": { input: 300, image: 30_000 },
  // In one region: a tenth more than worldwide.
  "anthropic.claude-sonnet-4-5-20250929-v1:0": {
    ...{ "input-tokens": 3300, "output-tokens": 16_500, "cache-read-input-token-count": 330 },
    ...{ "cache-write-input-token-count": 4125, "cache-write-1h-input-token-count": 6600 },
  },
  "amazon.nova-pro-v1:0": { "input-tokens": 800, "output-tokens": 3200, "cache-read-input-token-count": 200 },
  "gpt-4o-2024-08-06": { Inp: 2500, "cchd Inp": 1250, Outp: 10_000 },
  "gpt-5.4": { Inp: 2500, "Cd Inp": 250, Outp: 15_000 },
};
const TIERS: Counts = { standard: 100, flex: 50, pp: 200 };

/** Millionths of a millionth of a dollar. */
const picoOf = ({ model, tier }: Omit<Entry, "counts">, kind: string, count: number): bigint =>
  (BigInt(count) * BigInt(PRICES[model]?.[kind] ?? 0) * 1000n * BigInt(TIERS[tier] ?? 0)) / 100n;
export const usdOf = (pico: bigint): string => {
  const digits = (pico < 0n ? -pico : pico).toString().padStart(13, "0");
  return `${pico < 0n ? "-" : ""}${digits.slice(0, -12)}.${digits.slice(-12)}`;
};

/** What is billed: a line for each model, tier and unit. */
export type Billed = { model: string; tier: string; kind: string; count: number; pico: bigint };

export type CloudVendor = Awaited<ReturnType<typeof cloudVendor>>;

export async function cloudVendor() {
  const ledger: Entry[] = [];
  let next: Asked = { counts: {} };
  const of = (kind: string) => next.counts[kind] ?? 0;
  const bill = (model: string) => ledger.push({ model, tier: next.tier ?? "standard", counts: next.counts });
  const upstream: ScriptedUpstream = await scriptedUpstream(({ path, body }, reply) => {
    const asked = JSON.parse(body);
    const send = async (
      events: readonly object[],
      contentType: string,
      write: (one: object) => Uint8Array | string,
    ) => {
      reply.head(contentType);
      for (const [index, event] of events.entries()) {
        const half = Math.floor(events.length / 2);
        if (index === half && next.ending === "cut") return reply.close();
        if (index === half) await next.waitsFor;
        reply.chunk(write(event));
      }
      reply.end();
    };
    const events = (list: readonly object[]) =>
      send(list, "text/event-stream", (one) => {
        const type = "type" in one ? `event: ${one.type}\n` : "";
        return `${type}data: ${JSON.stringify(one)}\n\n`;
      });
    const [, gemini, method] = /\/models\/([^:]+):(\w+)/.exec(path) ?? [];
    if (gemini) {
      bill(gemini);
      const answer = (text: string, more: object = {}) => ({
        candidates: [
          { content: { role: "model", parts: [next.tools ? CALL : { text }] }, finishReason: "STOP" },
        ],
        modelVersion: gemini,
        ...more,
      });
      const detail = (modality: string, tokenCount: number) => ({ modality, tokenCount });
      const prompt = of("input") + of("cached") + of("audio");
      const usageMetadata = {
        promptTokenCount: prompt,
        cachedContentTokenCount: of("cached"),
        candidatesTokenCount: of("output") + of("image"),
        thoughtsTokenCount: of("thinking"),
        totalTokenCount: prompt + of("output") + of("thinking") + of("image"),
        promptTokensDetails: [detail("TEXT", of("input") + of("cached")), detail("AUDIO", of("audio"))],
        cacheTokensDetails: [detail("TEXT", of("cached"))],
        candidatesTokensDetails: [detail(of("image") ? "IMAGE" : "TEXT", of("output") + of("image"))],
        ...(next.tier && { serviceTier: next.tier }),
      };
      if (method === "streamGenerateContent")
        return events([answer("Ra"), answer("in."), answer("", { usageMetadata })]);
      return reply.json(answer("Rain.", { usageMetadata }));
    }
    if (path.includes("/model/")) {
      const model = decodeURIComponent(/\/model\/([^/]+)\//.exec(path)?.[1] ?? "");
      bill(model);
      const whole = {
        input: of("input-tokens"),
        output: of("output-tokens"),
        read: of("cache-read-input-token-count"),
      };
      if (path.includes("/converse")) {
        const usage = {
          inputTokens: whole.input,
          outputTokens: whole.output,
          cacheReadInputTokens: whole.read,
        };
        const output = { message: { role: "assistant", content: [{ text: "Rain." }] } };
        return reply.json({ output, stopReason: "end_turn", usage });
      }
      const [write5m, write1h] = [
        of("cache-write-input-token-count"),
        of("cache-write-1h-input-token-count"),
      ];
      const usage = {
        ...{ input_tokens: whole.input, output_tokens: whole.output, cache_read_input_tokens: whole.read },
        cache_creation_input_tokens: write5m + write1h,
        cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
      };
      const message = { id: "m1", type: "message", role: "assistant", model: "claude-sonnet-4-5-20250929" };
      const text = { type: "text", text: "Rain." };
      if (!path.endsWith("stream"))
        return reply.json({ ...message, content: [text], stop_reason: "end_turn", usage });
      const frame = (event: object) =>
        frameOfEvent(
          { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
          Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString("base64") })),
        );
      const begun = { ...message, content: [], usage: { ...usage, output_tokens: 1 } };
      return send(
        [
          { type: "message_start", message: begun },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Rain." } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
          { type: "message_stop" },
        ],
        "application/vnd.amazon.eventstream",
        frame,
      );
    }
    const isRouter = path.startsWith("/router");
    const model = asked.model === "gpt-4o" ? "gpt-4o-2024-08-06" : asked.model;
    bill(model);
    const cached = of("cchd Inp") + of("Cd Inp");
    const usage = {
      prompt_tokens: of("Inp") + cached,
      completion_tokens: of("Outp"),
      total_tokens: of("Inp") + cached + of("Outp"),
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: Math.floor(of("Outp") / 2) },
      ...(isRouter && { cost: of("microUsd") / 1e6 }),
    };
    const head = { id: "c1", model, created: 1, ...(next.tier && { service_tier: "priority" }) };
    const message = next.tools
      ? { role: "assistant", content: null, tool_calls: [TOOL] }
      : { role: "assistant", content: "Rain." };
    if (!asked.stream)
      return reply.json({
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      });
    const chunk = (delta: object) => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta }],
    });
    return events([
      chunk({ content: "Ra" }),
      chunk({ content: "in." }),
      { ...chunk({}), choices: [], usage },
    ]);
  });

  return {
    url: upstream.url,
    answer: (asked: Asked) => {
      next = asked;
    },
    /** Everything that was asked for of some models, a line for each model, tier and unit. */
    billed(models: RegExp): Billed[] {
      const sums = new Map<string, Billed>();
      for (const { model, tier, counts } of ledger.filter((it) => models.test(it.model))) {
        for (const [kind, count] of Object.entries(counts)) {
          const key = `${model} ${tier} ${kind}`;
          const sum = sums.get(key) ?? { model, tier, kind, count: 0, pico: 0n };
          const pico =
            kind === "microUsd" ? BigInt(count) * 1_000_000n : picoOf({ model, tier }, kind, count);
          sums.set(key, { ...sum, count: sum.count + count, pico: sum.pico + pico });
        }
      }
      return [...sums.values()];
    },
  };
}

const CALL = { functionCall: { name: "look", args: {} } };
const TOOL = { index: 0, id: "t1", type: "function", function: { name: "look", arguments: "{}" } };
