import type { SurfaceName } from "../surface-facts.ts";

/** A call's body as far as its size tells what it may use. */
export type RequestSize = {
  surface: SurfaceName;
  bytes: number;
  /** A file comes with it. */
  uploaded: boolean;
  /** What a JSON reader finds under a name at the top level. */
  member(name: string): unknown;
};

/** What a call may use at most. */
export type UsageBound = {
  inputTokens: number;
  outputTokens: number;
  images: number;
  characters: number;
  documents: number;
  /** False: nobody says how long an answer may get, and `outputTokens` is as much as any model of today writes. */
  outputBounded: boolean;
};

/** Tokens that a message costs besides its text: names of roles and separators. */
const TOKENS_PER_MESSAGE = 16;
/** Input that is not in the body, of a model whose limit nobody knows. */
const INPUT_UNKNOWN_TOKENS = 1_048_576;
/** As much as any model of today writes in one answer. */
const OUTPUT_TOKENS_MAX = 131_072;

/** Parts of messages that are nothing but their text. Whatever is not among them may be an image, a sound or a file. */
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

/** Members that bring in what is kept elsewhere: earlier turns, templates, files. */
const REFERENCES = ["previous_response_id", "conversation", "prompt", "container", "mcp_servers"];

/** Surfaces of which a model writes the answer: only their `outputTokens` are not 0. */
const WRITING = new Set<SurfaceName>(["chat.completions", "messages", "responses"]);
/** Surfaces that are paid by something else than the text that they are sent. */
const PIECES = new Set<SurfaceName>([
  "embeddings",
  "moderations",
  "rerank",
  "rerank.v2",
  "messages.count_tokens",
]);

/**
 * The most that a call can use (decision: Unknown costs under a budget): a token for every byte of the body and 16 more per message, or all
 * that the model takes in where the body refers to something that is not text; and as much output as the client allows,
 * else as the model can write. `contextTokens` is null where nobody knows the model's limit.
 */
export function usageBound(asked: RequestSize, contextTokens: number | null): UsageBound {
  const turns = [asked.member("messages"), asked.member("input"), asked.member("system")];
  const text = asked.bytes + TOKENS_PER_MESSAGE * turns.reduce<number>((sum, list) => sum + countOf(list), 0);
  const beyond = asked.uploaded || refersElsewhere(asked) || turns.some((list) => hasMore(list, 0));
  const output = outputOf(asked, contextTokens);
  return {
    inputTokens: beyond ? Math.max(text, contextTokens ?? INPUT_UNKNOWN_TOKENS) : text,
    ...output,
    images: asked.surface.startsWith("images.") ? wholeOr(asked.member("n"), 1) : 0,
    characters: asked.surface === "audio.speech" ? textLength(asked.member("input")) : 0,
    documents: Math.max(1, countOf(asked.member("documents"))),
  };
}

const countOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
const textLength = (text: unknown): number => (typeof text === "string" ? text.length : 0);
const wholeOr = (value: unknown, otherwise: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : otherwise;

function outputOf(
  asked: RequestSize,
  contextTokens: number | null,
): Pick<UsageBound, "outputTokens" | "outputBounded"> {
  const { surface, member } = asked;
  if (PIECES.has(surface)) return { outputTokens: 0, outputBounded: true };
  const choices = surface === "chat.completions" ? wholeOr(member("n"), 1) : 1;
  const allowed = WRITING.has(surface)
    ? ["max_completion_tokens", "max_tokens", "max_output_tokens"].map((name) => wholeOr(member(name), 0))
    : [];
  const most = Math.max(0, ...allowed);
  if (most > 0) return { outputTokens: most * choices, outputBounded: true };
  const written = Math.min(contextTokens ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
  return { outputTokens: written * choices, outputBounded: contextTokens !== null };
}

const refersElsewhere = ({ surface, member }: RequestSize): boolean =>
  WRITING.has(surface) && REFERENCES.some((name) => member(name) !== undefined && member(name) !== null);

/** Deeper than any message is nested. */
const DEPTH_MAX = 16;

/** Whether something in a list of messages may be more than its text: a part of a type that is not known as text. */
function hasMore(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth > DEPTH_MAX) return true;
  if (Array.isArray(value)) return value.some((one) => hasMore(one, depth + 1));
  const { type } = value as { type?: unknown };
  if (typeof type === "string" && !TEXT_TYPES.has(type)) return true;
  return Object.values(value).some((one) => hasMore(one, depth + 1));
}
