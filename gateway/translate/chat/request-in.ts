import type { Json } from "../exact-json.ts";
import {
  flagAt,
  ignored,
  malformed,
  numberAt,
  objectAt,
  oneOfAt,
  only,
  readMembers,
  type Takes,
  textAt,
} from "../members.ts";
import { type Asked, EFFORTS, emptyPrompt, type Prompt } from "../prompt.ts";
import { chatTurns } from "./messages-in.ts";
import { chatOutput } from "./output-in.ts";
import { chatTools, readToolChoice } from "./tools-in.ts";

/** A chat completion request as what it asks for. */
export function readChatRequest(body: Json): { prompt: Prompt; asked: Asked } {
  const prompt = emptyPrompt();
  const asked: Asked = {
    streamed: false,
    usageChunk: false,
    thinking: true,
    signed: true,
    stop: [],
    echo: {},
  };
  readMembers(body, "", { ...IGNORED, ...NEUTRAL, ...takesOf(prompt, asked) });
  if (!Array.isArray(body["messages"])) throw malformed("messages", "an array");
  readToolChoice(body["tool_choice"], prompt);
  return { prompt, asked: { ...asked, streamed: prompt.streamed, stop: prompt.stop } };
}

/** The gateway's own members; what only steers the provider's storage, caches, speed or byte counts; what is read elsewhere. */
const IGNORED: Takes = {
  model: ignored,
  route: ignored,
  tool_choice: ignored,
  // Labels for a store of completions that the provider of the other format does not keep.
  metadata: ignored,
  // Text that the answer may repeat: it makes it faster, not other.
  prediction: ignored,
  prompt_cache_key: ignored,
  prompt_cache_options: ignored,
  prompt_cache_retention: ignored,
};

/** Members that may only say what holds without them. */
const NEUTRAL: Takes = {
  n: only(1),
  store: only(false),
  logprobs: only(false),
  top_logprobs: only(0),
  logit_bias: only({}),
  modalities: only(["text"]),
  frequency_penalty: only(0),
  presence_penalty: only(0),
  service_tier: only("auto", "default"),
  verbosity: only("medium"),
};

const takesOf = (prompt: Prompt, asked: Asked): Takes => ({
  messages: (value, at) => {
    prompt.turns = chatTurns(value, at);
  },
  tools: (value, at) => {
    prompt.tools = chatTools(value, at);
  },
  parallel_tool_calls: (value, at) => {
    prompt.parallelTools = { value: flagAt(value, at), at };
  },
  max_tokens: (value, at) => {
    prompt.maxTokens ??= { value: numberAt(value, at), at };
  },
  max_completion_tokens: (value, at) => {
    prompt.maxTokens = { value: numberAt(value, at), at };
  },
  temperature: (value, at) => {
    prompt.temperature = { value: numberAt(value, at), at };
  },
  top_p: (value, at) => {
    prompt.topP = { value: numberAt(value, at), at };
  },
  stop: (value, at) => {
    prompt.stop = stopOf(value, at);
  },
  reasoning_effort: (value, at) => {
    prompt.reasoning.effort = { value: oneOfAt(value, at, EFFORTS), at };
  },
  response_format: (value, at) => {
    prompt.output = chatOutput(objectAt(value, at), at);
  },
  user: (value, at) => {
    prompt.user = textAt(value, at);
  },
  safety_identifier: (value, at) => {
    prompt.user ??= textAt(value, at);
  },
  stream: (value, at) => {
    prompt.streamed = flagAt(value, at);
  },
  stream_options: (value, at) =>
    readMembers(objectAt(value, at), at, {
      include_usage: (said, place) => {
        asked.usageChunk = flagAt(said, place);
      },
      // Padding of the provider's own stream.
      include_obfuscation: ignored,
    }),
});

const stopOf = (value: unknown, at: string): string[] =>
  typeof value === "string"
    ? [value]
    : Array.isArray(value)
      ? value.map((one, index) => textAt(one, `${at}[${index}]`))
      : [textAt(value, at)];
