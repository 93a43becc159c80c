import { COMMON_LEFT_OUT, commonReaders } from "../common-members.ts";
import {
  dropped,
  flagAt,
  into,
  type LocatedBody,
  located,
  type MemberReaders,
  malformed,
  neutral,
  numberAt,
  objectAt,
  oneOfAt,
  readMembers,
  textAt,
} from "../members.ts";
import type { BodyPlace } from "../place.ts";
import { type AnswerOptions, EFFORTS, emptyPrompt, type Prompt } from "../prompt.ts";
import { chatTurns } from "./messages-in.ts";
import { outputFormatAt } from "./output-in.ts";
import { chatTools, readToolChoice } from "./tools-in.ts";

/** Reads a chat completion request. */
export function readChatRequest({ object: body, at }: LocatedBody): {
  prompt: Prompt;
  options: AnswerOptions;
} {
  const prompt = emptyPrompt();
  const stream = { usageChunk: false };
  readMembers(
    { object: body, at },
    {
      ...COMMON_LEFT_OUT,
      ...LEFT_OUT,
      ...commonReaders(prompt),
      ...readersFor(prompt, stream),
    },
  );
  if (!Array.isArray(body["messages"])) throw malformed(at.member("messages"), "an array");
  readToolChoice(body["tool_choice"], at.member("tool_choice"), prompt);
  const { streamed, stop } = prompt;
  return {
    prompt,
    options: { streamed, ...stream, thinking: true, signed: true, stop, kept: false, echo: {} },
  };
}

/** Members without a counterpart: `dropped` always, `neutral` with the values that mean the default. */
const LEFT_OUT: MemberReaders = {
  // A wish for the same answer again, which no vendor promises.
  seed: dropped,
  store: dropped,
  // The vendor's own capacity: the answer is the same.
  service_tier: dropped,
  // Text that the answer may repeat: it makes the answer faster, not different.
  prediction: dropped,
  n: neutral(1),
  logprobs: neutral(false),
  top_logprobs: neutral(0),
  logit_bias: neutral({}),
  modalities: neutral(["text"]),
  frequency_penalty: neutral(0),
  presence_penalty: neutral(0),
  verbosity: neutral("medium"),
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
    readMembers(
      { object: objectAt(value, at), at: at },
      {
        include_usage: into(stream, "usageChunk", flagAt),
        // Padding of the provider's own stream.
        include_obfuscation: dropped,
      },
    ),
});

const stopOf = (value: unknown, at: BodyPlace): string[] =>
  typeof value === "string"
    ? [value]
    : Array.isArray(value)
      ? value.map((one, index) => textAt(one, at.item(index)))
      : [textAt(value, at)];
