import { protoMember } from "../google-format.ts";
import type { SurfaceName } from "../surface-facts.ts";

export type RequestSize = {
  surface: SurfaceName;
  bytes: number;
  uploaded: boolean;
  /** Bytes of the form with the file, as declared; null: unknown. */
  uploadBytes?: number | null;
  /** A top-level member's value. */
  member(name: string): unknown;
};

/** Upper bounds of a call's usage. */
export type UsageBound = {
  inputTokens: number;
  outputTokens: number;
  images: number;
  characters: number;
  documents: number;
  soundSeconds: number;
  /** False: nothing limits the answer, and `outputTokens` is the most that any current model writes. */
  outputBounded: boolean;
};

/** Tokens per message besides its text: role names and separators. */
const TOKENS_PER_MESSAGE = 16;
/** Assumed for input outside the body if the model's context window is unknown. */
const INPUT_UNKNOWN_TOKENS = 1_048_576;
/** The most that any current model writes in one answer. */
const OUTPUT_TOKENS_MAX = 131_072;

/** Types of message parts that are pure text. Others may be images, audio or files. */
const TEXT_TYPES = new Set([
  "text",
  "input_text",
  "output_text",
  "summary_text",
  "refusal",
  "message",
  "thinking",
  "redacted_thinking",
  "reasoning",
  "tool_use",
  "tool_result",
  "function",
  "function_call",
  "function_call_output",
  "ephemeral",
]);

/** Members that refer to input stored elsewhere: earlier turns, templates, files. */
const REFERENCES = [
  "previous_response_id",
  "conversation",
  "prompt",
  "container",
  "mcp_servers",
  "cachedContent",
];

/** Members that contain the text sent to a model. */
const TURNS = ["messages", "input", "system", "contents", "systemInstruction", "content", "requests"];

/** The billed part of a surface's answer: the text that a model writes, other output (`pieces`), or none. */
const ANSWERS = {
  "chat.completions": "text",
  messages: "text",
  "messages.count_tokens": "nothing",
  responses: "text",
  "responses.input_tokens": "nothing",
  "responses.compact": "text",
  completions: "text",
  embeddings: "nothing",
  moderations: "nothing",
  "images.generations": "pieces",
  "images.edits": "pieces",
  "images.variations": "pieces",
  "audio.transcriptions": "pieces",
  "audio.translations": "pieces",
  "audio.speech": "pieces",
  rerank: "nothing",
  "rerank.v2": "nothing",
  generate_content: "text",
  "generate_content.count_tokens": "nothing",
  embed_content: "nothing",
  "embed_content.batch": "nothing",
  invoke: "text",
  converse: "text",
  realtime: "text",
  "realtime.session": "nothing",
  pass_through: "text",
} as const satisfies Record<SurfaceName, "text" | "pieces" | "nothing">;

/**
 * Upper bounds of a call's usage (decision: Unknown costs under a budget). Input: a token per byte of the body plus 16
 * per message, or the model's context window if the body refers to anything but text. Output: the client's limit, else
 * the model's. `contextTokens` is null if the model's limit is unknown.
 */
export function usageBound(size: RequestSize, contextTokens: number | null): UsageBound {
  const turns = TURNS.map((name) => size.member(name));
  const text = size.bytes + TOKENS_PER_MESSAGE * turns.reduce<number>((sum, list) => sum + countOf(list), 0);
  // A realtime response reads the whole conversation of its connection.
  const unbounded =
    size.surface === "realtime" ||
    size.uploaded ||
    refersElsewhere(size) ||
    turns.some((list) => hasNonText(list, 0));
  const output = outputOf(size, contextTokens);
  return {
    inputTokens: unbounded ? Math.max(text, contextTokens ?? INPUT_UNKNOWN_TOKENS) : text,
    ...output,
    images: size.surface.startsWith("images.") ? wholeOr(size.member("n"), 1) : 0,
    characters: size.surface === "audio.speech" ? textLength(size.member("input")) : 0,
    documents: Math.max(1, countOf(size.member("documents"))),
    soundSeconds: soundSecondsOf(size),
  };
}

/** The lowest bit rate of Opus (RFC 6716, 2.1.1), so that a file holds no more sound than this. */
const SOUND_BYTES_PER_SECOND = 6000 / 8;
/** Assumed for a file of unknown size: the largest that OpenAI transcribes. */
const SOUND_UNKNOWN_BYTES = 25 * 1024 * 1024;

const soundSecondsOf = ({ surface, uploaded, uploadBytes }: RequestSize): number =>
  uploaded && surface.startsWith("audio.trans")
    ? Math.ceil((uploadBytes ?? SOUND_UNKNOWN_BYTES) / SOUND_BYTES_PER_SECOND)
    : 0;

const countOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
const textLength = (text: unknown): number => (typeof text === "string" ? text.length : 0);
const wholeOr = (value: unknown, otherwise: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : otherwise;

/** How many answers the request asks for. */
function choicesOf({ surface, member }: RequestSize): number {
  if (surface === "generate_content") {
    return wholeOr(protoMember(member("generationConfig"), "candidateCount"), 1);
  }
  const isChoosing = surface === "chat.completions" || surface === "completions";
  return isChoosing ? Math.max(wholeOr(member("n"), 1), wholeOr(member("best_of"), 1)) : 1;
}

/** Members that limit an answer; the last is Llama's on Bedrock. */
const LIMITS = ["max_completion_tokens", "max_tokens", "max_output_tokens", "max_gen_len"];
/** Gemini's, and on Bedrock those of `converse`, Nova and Titan (AWS, "Inference request parameters"). */
const LIMITS_WITHIN = [
  ["generationConfig", "maxOutputTokens"],
  ["inferenceConfig", "maxTokens"],
  ["inferenceConfig", "maxNewTokens"],
  ["textGenerationConfig", "maxTokenCount"],
] as const;

function outputOf(
  size: RequestSize,
  contextTokens: number | null,
): Pick<UsageBound, "outputTokens" | "outputBounded"> {
  const { surface, member } = size;
  if (ANSWERS[surface] === "nothing") return { outputTokens: 0, outputBounded: true };
  const choices = choicesOf(size);
  const allowed =
    ANSWERS[surface] === "text"
      ? [
          ...LIMITS.map((name) => wholeOr(member(name), 0)),
          ...LIMITS_WITHIN.map(([holder, name]) => wholeOr(protoMember(member(holder), name), 0)),
        ]
      : [];
  const most = Math.max(0, ...allowed);
  if (most > 0) return { outputTokens: most * choices, outputBounded: true };
  const written = Math.min(contextTokens ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
  return { outputTokens: written * choices, outputBounded: contextTokens !== null };
}

const refersElsewhere = ({ surface, member }: RequestSize): boolean =>
  ANSWERS[surface] === "text" &&
  REFERENCES.some(
    (name) => !(name === "prompt" && PROMPTED.includes(surface)) && (member(name) ?? null) !== null,
  );

/** Surfaces whose `prompt` is the text itself. */
const PROMPTED: readonly SurfaceName[] = ["completions", "invoke"];

/** Members that make a part of Gemini's or Bedrock's more than text. */
const MEDIA = ["inlineData", "fileData", "s3Location"];

/** Deeper than any real message is nested. */
const DEPTH_MAX = 16;

/** Whether a list of messages holds a part that may be more than text. */
function hasNonText(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth > DEPTH_MAX) return true;
  if (Array.isArray(value)) return value.some((one) => hasNonText(one, depth + 1));
  if (MEDIA.some((name) => protoMember(value, name) !== undefined)) return true;
  const type = "type" in value ? value.type : undefined;
  if (typeof type === "string" && !TEXT_TYPES.has(type)) return true;
  return Object.values(value).some((one) => hasNonText(one, depth + 1));
}
