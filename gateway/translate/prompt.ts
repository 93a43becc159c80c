import type { Json } from "./exact-json.ts";

/** A value and the member of the client's body that says it, so that a refusal can name it. */
type Located<T> = { value: T; at: string };

/** Bytes in the body, or an address. `data` is base64. */
export type ContentSource =
  | { kind: "data"; mediaType: string; data: string }
  | { kind: "url"; url: string }
  | { kind: "text"; text: string };

/** A piece of a turn. `cache` is a cache mark in the messages format, null where none stands. */
export type Part = { at: string } & (
  | { kind: "text"; text: string; cache: Json | null }
  | { kind: "image"; source: ContentSource; cache: Json | null }
  | { kind: "document"; source: ContentSource; title: string | null; cache: Json | null }
  | { kind: "thinking"; text: string; signature: string | null }
  | { kind: "redacted"; data: string }
  | { kind: "call"; id: string; name: string; input: string; cache: Json | null }
  | { kind: "result"; callId: string; parts: Part[]; failed: boolean; cache: Json | null }
);

export type PartOf<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/** A text without a cache mark. */
export const plainText = (text: string, at: string): PartOf<"text"> => ({
  kind: "text",
  text,
  cache: null,
  at,
});

/** `system` stands where the client put it: at the front, or between the turns. */
export type PromptTurn = { role: "system" | "user" | "assistant"; parts: Part[]; at: string };

export type Tool = {
  name: string;
  description: string | null;
  /** JSON Schema of the arguments; null where the client gave none. */
  schema: Json | null;
  strict: boolean | null;
  cache: Json | null;
};

export type ToolChoice = { kind: "auto" | "none" | "any" } | { kind: "tool"; name: string };

/** All efforts that the formats know, least first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** How much to reason: by word, by a budget of tokens, or both. */
type Reasoning = { effort: Located<Effort> | null; budgetTokens: Located<number> | null };

export type OutputFormat =
  | { kind: "json"; at: string }
  | {
      kind: "schema";
      name: string;
      description: string | null;
      schema: Json;
      strict: boolean | null;
      at: string;
    };

/**
 * What a client asks of a model, in no format: each format reads into it and writes from it, so that four pairs of
 * formats take three readers and two writers. `extras` holds members that only the chat and the responses format have,
 * by the name they have in the chat format.
 */
export type Prompt = {
  turns: PromptTurn[];
  tools: Tool[];
  toolChoice: Located<ToolChoice> | null;
  parallelTools: Located<boolean> | null;
  maxTokens: Located<number> | null;
  temperature: Located<number> | null;
  topP: Located<number> | null;
  stop: string[];
  reasoning: Reasoning;
  output: OutputFormat | null;
  /** The person that the application acts for. */
  user: string | null;
  streamed: boolean;
  extras: Map<string, Located<unknown>>;
};

export const emptyPrompt = (): Prompt => ({
  turns: [],
  tools: [],
  toolChoice: null,
  parallelTools: null,
  maxTokens: null,
  temperature: null,
  topP: null,
  stop: [],
  reasoning: { effort: null, budgetTokens: null },
  output: null,
  user: null,
  streamed: false,
  extras: new Map(),
});

/** What the answer's form depends on, besides the answer: what the client's request said. */
export type AnswerOptions = {
  streamed: boolean;
  /** Chat: the usage chunk was asked for. */
  usageChunk: boolean;
  /** Whether reasoning may be told to the client, and whether its signed form may. */
  thinking: boolean;
  signed: boolean;
  stop: readonly string[];
  /** Responses: members that an answer of that format says back. */
  echo: Json;
};
