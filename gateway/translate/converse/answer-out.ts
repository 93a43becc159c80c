import { type Json, objectMember, objectsIn, textIn, wordOf } from "../exact-json.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  refusal: "content_filtered",
  pause_turn: "end_turn",
};

const stopReason = (reason: string | null): string => STOP_REASONS[reason ?? ""] ?? reason ?? "end_turn";

const count = (usage: Json | null, name: string): number => Number(usage?.[name] ?? 0);

/** Anthropic's usage in Bedrock's names; in both, input tokens do not include those of the cache. */
export function converseUsage(usage: Json | null) {
  const inputTokens = count(usage, "input_tokens");
  const outputTokens = count(usage, "output_tokens");
  const cacheReadInputTokens = count(usage, "cache_read_input_tokens");
  const cacheWriteInputTokens = count(usage, "cache_creation_input_tokens");
  const totalTokens = inputTokens + outputTokens + cacheReadInputTokens + cacheWriteInputTokens;
  return { inputTokens, outputTokens, totalTokens, cacheReadInputTokens, cacheWriteInputTokens };
}

/** The usage so far, with the counts that an event of a stream has. */
export function withCountsOf(event: Json, usage: Json): Json {
  const told = objectMember(event, "usage") ?? objectMember(objectMember(event, "message"), "usage") ?? {};
  return { ...usage, ...Object.fromEntries(Object.entries(told).filter(([, count]) => count !== null)) };
}

/** An answer in the messages format as Converse writes it. */
export const converseAnswer = (message: Json, latencyMs: number): Json => ({
  output: { message: { role: "assistant", content: objectsIn(message, "content").flatMap(blockOf) } },
  stopReason: stopReason(textIn(message, "stop_reason")),
  usage: converseUsage(objectMember(message, "usage")),
  metrics: { latencyMs },
});

const redacted = (data: unknown): Json => ({ redactedContent: Buffer.from(wordOf(data)).toString("base64") });

/** Blocks that only Anthropic has, such as those of its own tools, are left out. */
function blockOf(block: Json): Json[] {
  const { type, text, thinking, signature, data, id, name, input } = block;
  if (type === "text") return [{ text }];
  if (type === "thinking") return [{ reasoningContent: { reasoningText: { text: thinking, signature } } }];
  if (type === "redacted_thinking") return [{ reasoningContent: redacted(data) }];
  return type === "tool_use" ? [{ toolUse: { toolUseId: id, name, input } }] : [];
}

/** An event of Converse's stream: its type and its payload. */
export type ConverseEvent = readonly [type: string, payload: Json];

/** Translates one stream of the messages format, event by event. `latencyMs`: since the call began. */
export function converseStream(latencyMs: () => number): (event: Json) => ConverseEvent[] {
  let usage: Json = {};
  return (event) => {
    const contentBlockIndex = event["index"];
    usage = withCountsOf(event, usage);
    switch (event["type"]) {
      case "message_start":
        return [["messageStart", { role: "assistant" }]];
      case "content_block_start":
        return startOf(objectMember(event, "content_block"), contentBlockIndex);
      case "content_block_delta": {
        const delta = deltaOf(objectMember(event, "delta") ?? {});
        return delta ? [["contentBlockDelta", { delta, contentBlockIndex }]] : [];
      }
      case "content_block_stop":
        return [["contentBlockStop", { contentBlockIndex }]];
      case "message_delta":
        return [
          ["messageStop", { stopReason: stopReason(textIn(objectMember(event, "delta"), "stop_reason")) }],
        ];
      case "message_stop":
        return [["metadata", { usage: converseUsage(usage), metrics: { latencyMs: latencyMs() } }]];
      default:
        return [];
    }
  };
}

function startOf(block: Json | null, contentBlockIndex: unknown): ConverseEvent[] {
  if (block?.["type"] === "tool_use") {
    const start = { toolUse: { toolUseId: block["id"], name: block["name"] } };
    return [["contentBlockStart", { start, contentBlockIndex }]];
  }
  if (block?.["type"] !== "redacted_thinking") return [];
  const delta = { reasoningContent: redacted(block["data"]) };
  return [["contentBlockDelta", { delta, contentBlockIndex }]];
}

function deltaOf({ type, text, thinking, signature, partial_json }: Json): Json | null {
  if (type === "text_delta") return { text };
  if (type === "thinking_delta") return { reasoningContent: { text: thinking } };
  if (type === "signature_delta") return { reasoningContent: { signature } };
  return type === "input_json_delta" ? { toolUse: { input: partial_json } } : null;
}
