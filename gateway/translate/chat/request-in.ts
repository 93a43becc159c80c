import { COMMON_IGNORED, commonReaders } from "../common-members.ts";
import type { Json } from "../exact-json.ts";
import {
  flagAt,
  ignored,
  into,
  located,
  type MemberReaders,
  malformed,
  numberAt,
  objectAt,
  oneOfAt,
  only,
  readMembers,
  textAt,
} from "../members.ts";
import { type AnswerOptions, EFFORTS, emptyPrompt, type Prompt } from "../prompt.ts";
import { chatTurns } from "./messages-in.ts";
import { outputFormatAt } from "./output-in.ts";
import { chatTools, readToolChoice } from "./tools-in.ts";

/** Reads a chat completion request. */
export function readChatRequest(body: Json): { prompt: Prompt; options: AnswerOptions } {
  const prompt = emptyPrompt();
  const stream = { usageChunk: false };
  readMembers(body, "", {
    ...COMMON_IGNORED,
    ...NEUTRAL,
    ...commonReaders(prompt),
    ...readersFor(prompt, stream),
  });
  if (!Array.isArray(body["messages"])) throw malformed("messages", "an array");
  readToolChoice(body["tool_choice"], prompt);
  const { streamed, stop } = prompt;
  return { prompt, options: { streamed, ...stream, thinking: true, signed: true, stop, echo: {} } };
}

/** Members that are accepted only with values that change nothing. */
const NEUTRAL: MemberReaders = {
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
  // Text that the answer may repeat: it makes the answer faster, not different.
  prediction: ignored,
};

const readersFor = (prompt: Prompt, stream: { usageChunk: boolean }): MemberReaders => ({
  messages: into(prompt, "turns", chatTurns),
  tools: into(prompt, "tools", chatTools),
  max_tokens: (value, at) => {
    prompt.maxTokens ??= { value: numberAt(value, at), at };
  },
  max_completion_tokens: into(prompt, "maxTokens", located(numberAt)),
  stop: into(prompt, "stop", stopOf),
  reasoning_effort: into(
    prompt.reasoning,
    "effort",
    located((value, at) => oneOfAt(value, at, EFFORTS)),
  ),
  response_format: into(prompt, "output", (value, at) =>
    outputFormatAt(objectAt(value, at), at, "json_schema"),
  ),
  stream_options: (value, at) =>
    readMembers(objectAt(value, at), at, {
      include_usage: into(stream, "usageChunk", flagAt),
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
