import {
  COMMON_LEFT_OUT,
  commonReaders,
  effortInto,
  extraInto,
  marked,
  stopInto,
} from "../common-members.ts";
import type { Json } from "../exact-json.ts";
import type { MemberReaders } from "../members.ts";
import { dropped, ignored, into, neutral, readMembers, readObject, refused } from "../members.ts";
import { type BodyPlace, inexpressible, type LocatedBody, malformed } from "../place.ts";
import type { Part, PartOf, Prompt, PromptRead, PromptTurn } from "../prompt.ts";
import { answerOptions, emptyPrompt, plainText } from "../prompt.ts";
import { flagAt, located, numberAt, objectAt, objectsAt, textAt } from "../values.ts";
import { searchTool } from "../web-search.ts";
import { answerContent, cacheReaders, chatContent, reasoningDetails, type Thought } from "./content-in.ts";
import { outputFormatAt } from "./output-in.ts";
import { chatTools, readToolChoice } from "./tools-in.ts";

export function readChatRequest({ object: body, at }: LocatedBody): PromptRead {
  const prompt = emptyPrompt();
  const stream = { usageChunk: false };
  readObject(body, at, {
    ...COMMON_LEFT_OUT,
    ...LEFT_OUT,
    ...commonReaders(prompt),
    ...readersFor(prompt, stream),
  });
  if (!Array.isArray(body["messages"])) throw malformed(at.member("messages"), "an array");
  readToolChoice(body["tool_choice"], at.member("tool_choice"), prompt);
  return { prompt, options: answerOptions(prompt, stream) };
}

/** Members without a counterpart: `dropped` always, `neutral` with the values that mean the default. */
const LEFT_OUT: MemberReaders = {
  store: dropped,
  // Text that the answer may repeat: it makes the answer faster, not different.
  prediction: dropped,
  n: neutral(1),
  logprobs: neutral(false),
  top_logprobs: neutral(0),
  logit_bias: neutral({}),
  modalities: neutral(["text"]),
};

const readersFor = (prompt: Prompt, stream: { usageChunk: boolean }): MemberReaders => ({
  verbosity: extraInto(prompt, "verbosity"),
  seed: extraInto(prompt, "seed"),
  // Not OpenAI's, but of vendors that copy the format.
  top_k: extraInto(prompt, "top_k"),
  frequency_penalty: extraInto(prompt, "frequency_penalty", ["0"]),
  presence_penalty: extraInto(prompt, "presence_penalty", ["0"]),
  messages: into(prompt, "turns", chatTurns),
  tools: (value, at) => void prompt.tools.push(...chatTools(value, at)),
  web_search_options: (value, at) =>
    void prompt.tools.push(...searchTool({ object: objectAt(value, at), at })),
  max_tokens: (value, at) => {
    prompt.maxTokens ??= { value: numberAt(value, at), at };
  },
  max_completion_tokens: into(prompt, "maxTokens", located(numberAt)),
  stop: stopInto(prompt),
  reasoning_effort: effortInto(prompt),
  response_format: into(prompt, "output", (value, at) =>
    outputFormatAt(objectAt(value, at), at, "json_schema"),
  ),
  stream_options: (value, at) =>
    readObject(value, at, {
      include_usage: into(stream, "usageChunk", flagAt),
      // Padding of the provider's own stream.
      include_obfuscation: dropped,
    }),
});

/** The turns of a chat conversation. A `tool` message becomes a result in a user's turn. */
const chatTurns = (value: unknown, at: BodyPlace): PromptTurn[] =>
  objectsAt(value, at).map(({ object, at: place }) => chatTurn(object, place));

function chatTurn(message: Json, at: BodyPlace): PromptTurn {
  switch (message["role"]) {
    case "system":
    case "developer":
      return { role: "system", parts: plainParts(message, at), at };
    case "user":
      return { role: "user", parts: plainParts(message, at), at };
    case "assistant":
      return { role: "assistant", parts: assistantParts(message, at), at };
    case "tool":
      return { role: "user", parts: [toolResult(message, at)], at };
    default:
      throw inexpressible(at.member("role"));
  }
}

type Content = { parts: Part[]; cache: Json | null };

function plainParts(message: Json, at: BodyPlace): Part[] {
  const content: Content = { parts: [], cache: null };
  readObject(message, at, {
    role: ignored,
    // Which of several people said it: the messages format knows one.
    name: dropped,
    content: into(content, "parts", chatContent),
    ...cacheReaders(content),
  });
  return marked(content);
}

function assistantParts(message: Json, at: BodyPlace): Part[] {
  const content: Content = { parts: [], cache: null };
  const other: Record<"refusal" | "calls", Part[]> = { refusal: [], calls: [] };
  const thoughts: { list: Thought[] } = { list: [] };
  const readers: MemberReaders = {
    role: ignored,
    content: into(content, "parts", answerContent),
    refusal: into(other, "refusal", (value, place) => [plainText(textAt(value, place), place)]),
    tool_calls: into(other, "calls", (value, place) => {
      const calls = objectsAt(value, place);
      if (calls.length === 0) place.drop();
      return calls.map(({ object, at: where }) => toolCall(object, where));
    }),
    // Signed reasoning goes back; reasoning without a signature is only for reading.
    reasoning_details: into(thoughts, "list", reasoningDetails),
    reasoning_content: dropped,
    reasoning: dropped,
    // Audio in the vendor's own store, and calls as they were before `tool_calls`.
    audio: refused,
    function_call: refused,
    ...cacheReaders(content),
  };
  // Other metadata of an answer, such as annotations, sent back in the next request.
  readMembers({ object: message, at }, readers, dropped);
  return interleaved(thoughts.list, [...marked(content), ...other.refusal, ...other.calls]);
}

/** Thoughts at their places among the blocks, and what was said in the places between. */
function interleaved(thoughts: readonly Thought[], said: readonly Part[]): Part[] {
  const parts: Part[] = [];
  const rest = [...said];
  for (const { part, index } of thoughts) {
    while (parts.length < index && rest[0]) parts.push(...rest.splice(0, 1));
    parts.push(part);
  }
  return [...parts, ...rest];
}

function toolCall(object: Json, at: BodyPlace): Part {
  if (![undefined, "function", "custom"].includes(object["type"] as string))
    throw inexpressible(at.member("type"));
  const call: PartOf<"call"> = { kind: "call", id: "", name: "", input: "", cache: null, at };
  const readers: MemberReaders = {
    type: ignored,
    id: into(call, "id", textAt),
    function: (value, place) =>
      readMembers(
        { object: objectAt(value, place), at: place },
        {
          name: into(call, "name", textAt),
          arguments: into(call, "input", textAt),
          ...cacheReaders(call),
        },
        dropped,
      ),
    custom: (value, place) => {
      const custom = objectAt(value, place);
      call.name = textAt(custom["name"], place.member("name"));
      call.input = JSON.stringify({ input: textAt(custom["input"], place.member("input")) });
    },
    ...cacheReaders(call),
  };
  // Such as a stream's index, or what an SDK parsed.
  readMembers({ object, at }, readers, dropped);
  if (call.name === "") throw malformed(at.member("function").member("name"), "a string");
  return call;
}

function toolResult(message: Json, at: BodyPlace): Part {
  const result: PartOf<"result"> = { kind: "result", callId: "", parts: [], failed: false, cache: null, at };
  readObject(message, at, {
    role: ignored,
    // The call's id identifies the result's call.
    name: dropped,
    tool_call_id: into(result, "callId", textAt),
    content: into(result, "parts", chatContent),
    ...cacheReaders(result),
  });
  if (message["tool_call_id"] == null) throw malformed(at.member("tool_call_id"), "a string");
  return result;
}
