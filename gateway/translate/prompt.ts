import type { Json } from "./exact-json.ts";
import type { BodyPlace } from "./place.ts";

/** A value and its member in the client's body, which errors name. */
type Located<T> = { value: T; at: BodyPlace };

/** Bytes in the body, or an address. `data` is base64. */
export type ContentSource =
  | { kind: "data"; mediaType: string; data: string }
  | { kind: "url"; url: string }
  | { kind: "text"; text: string };

/** A part of a turn. `cache` is its cache mark in the messages format; null if it has none. */
export type Part = { at: BodyPlace } & (
  | { kind: "text"; text: string; cache: Json | null }
  | { kind: "image"; source: ContentSource; cache: Json | null }
  | { kind: "document"; source: ContentSource; title: string | null; cache: Json | null }
  /** Thoughts, and the vendor that made them (thoughts.ts); null: unknown. */
  | { kind: "thinking"; text: string; signature: string | null; from: string | null }
  | { kind: "redacted"; data: string; from: string | null }
  /** What a provider put beside the next part, as JSON (reply.ts). */
  | { kind: "extra"; data: string; from: string | null }
  | { kind: "call"; id: string; name: string; input: string; cache: Json | null }
  | { kind: "result"; callId: string; parts: Part[]; failed: boolean; cache: Json | null }
);

export type PartOf<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/** A text without a cache mark. */
export const plainText = (text: string, at: BodyPlace): PartOf<"text"> => ({
  kind: "text",
  text,
  cache: null,
  at,
});

/** `system` turns keep the place that the client gave them: first, or between other turns. */
export type PromptTurn = { role: "system" | "user" | "assistant"; parts: Part[]; at: BodyPlace };

/** How the client writes calls of a tool that is read as a function: a custom tool, a vendor's, or a namespace's. */
export type ToolForm =
  | { as: "local_shell" | "shell" | "apply_patch" | "tool_search" }
  /** `own`: its name in a namespace. */
  | { as: "custom"; own?: { namespace: string; name: string } }
  | { as: "namespaced"; namespace: string; name: string };

export type Tool = {
  name: string;
  description: string | null;
  /** JSON Schema of the arguments; null where the client gave none. */
  schema: Json | null;
  strict: Located<boolean> | null;
  cache: Json | null;
  form?: ToolForm;
  /** Offered only once a search has found it. */
  deferred?: boolean;
  /** It is no function, but the declaration of a web search that a vendor runs. */
  search?: { object: Json; at: BodyPlace };
};

/** `at`: where the client declared it. */
export type WebSearch = {
  allowed: string[];
  blocked: string[];
  location: Json | null;
  maxUses: Located<number> | null;
  at: BodyPlace;
};

/** A function without anything said of it yet. */
export const unnamedTool = (): Tool => ({
  name: "",
  description: null,
  schema: null,
  strict: null,
  cache: null,
});

export type ToolChoice = { kind: "auto" | "none" | "any" } | { kind: "tool"; name: string };

/** All efforts that the formats know, least first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** How much to reason, by word, by a budget of tokens, or both; whether not at all; and whether the client wants to see it. */
type Reasoning = {
  effort: Located<Effort> | null;
  budgetTokens: Located<number> | null;
  off: boolean;
  shown: boolean;
};

export type OutputFormat =
  | { kind: "json"; at: BodyPlace }
  | {
      kind: "schema";
      name: string;
      description: string | null;
      schema: Json;
      strict: boolean | null;
      at: BodyPlace;
    };

/** An answer by a schema that the client did not name. */
export const schemaOutput = (schema: Json, at: BodyPlace, strict: boolean | null = null) =>
  ({ kind: "schema", name: "output", description: null, schema, strict, at }) satisfies OutputFormat;

/**
 * A client's request, independent of formats: each format is read into it and written from it, so that each
 * pair of formats takes one reader and one writer. `extras` are members that not all formats have,
 * by the name they have in the chat format.
 */
export type Prompt = {
  turns: PromptTurn[];
  tools: Tool[];
  /** The web search that the vendor is to run. */
  search: WebSearch | null;
  toolChoice: Located<ToolChoice> | null;
  parallelTools: Located<boolean> | null;
  maxTokens: Located<number> | null;
  temperature: Located<number> | null;
  topP: Located<number> | null;
  stop: string[];
  /** Where the client set `stop`. */
  stopAt: BodyPlace | null;
  reasoning: Reasoning;
  output: OutputFormat | null;
  /** The mark that lets the vendor choose what it caches. */
  cache: Json | null;
  /** The person that the application acts for. */
  user: string | null;
  streamed: boolean;
  extras: Map<string, Located<unknown>>;
};

export const emptyPrompt = (): Prompt => ({
  turns: [],
  tools: [],
  search: null,
  toolChoice: null,
  parallelTools: null,
  maxTokens: null,
  temperature: null,
  topP: null,
  stop: [],
  stopAt: null,
  reasoning: { effort: null, budgetTokens: null, off: false, shown: false },
  output: null,
  cache: null,
  user: null,
  streamed: false,
  extras: new Map(),
});

export type PromptRead = { prompt: Prompt; options: AnswerOptions };

/** The members of the client's request that shape the answer. */
export type AnswerOptions = {
  streamed: boolean;
  /** Chat: whether the client requested the usage chunk. */
  usageChunk: boolean;
  /** Whether the client may get reasoning, and whether it may get its signed form. */
  thinking: boolean;
  signed: boolean;
  /** Messages: reasoning is carried without its text. */
  omitted?: boolean;
  stop: readonly string[];
  /** By name, the tools whose calls are not written as plain functions. */
  forms?: ReadonlyMap<string, ToolForm>;
  /** Responses: members of the request that the answer repeats. */
  echo: Json;
  /** Responses: later calls may refer to the answer. */
  kept: boolean;
  /** Responses: the answer is a summary, written as a compaction. */
  compacts?: Compacts;
};

/** The options of a format that needs only `own`. */
export const answerOptions = (prompt: Prompt, own: Partial<AnswerOptions> = {}): AnswerOptions => ({
  streamed: prompt.streamed,
  usageChunk: true,
  thinking: true,
  signed: true,
  stop: prompt.stop,
  kept: false,
  echo: {},
  ...own,
});

/** `messages`: those that the client gets beside the compaction; absent: the compaction is an item of a response. */
export type Compacts = { messages?: readonly Json[] };
