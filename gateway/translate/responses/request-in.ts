import { outputFormatAt } from "../chat/output-in.ts";
import { readToolChoice } from "../chat/tools-in.ts";
import { COMMON_LEFT_OUT, commonReaders, effortInto, extraInto } from "../common-members.ts";
import type { MemberReader, MemberReaders } from "../members.ts";
import { dropped, ignored, into, neutral, readObject } from "../members.ts";
import { type BodyPlace, inexpressible, type LocatedBody, lose, malformed } from "../place.ts";
import { answerOptions, emptyPrompt, type Prompt, type PromptRead, plainText } from "../prompt.ts";
import { listAt, located, numberAt, objectAt, textAt } from "../values.ts";
import { isKept, requestEcho } from "./echo.ts";
import { ELSEWHERE, responsesTurns } from "./items-in.ts";
import { offerTools, responsesTools } from "./tools-in.ts";

/** Reads a responses request. Nothing is kept between calls, so references to earlier ones are refused. */
export function readResponsesRequest({ object: body, at }: LocatedBody): PromptRead {
  const prompt = emptyPrompt();
  const shown = { summary: false, sealed: false };
  readObject(body, at, { ...LEFT_OUT, ...commonReaders(prompt), ...readersFor(prompt, shown) });
  if (body["input"] === undefined || body["input"] === null)
    throw malformed(at.member("input"), "a string or an array");
  prompt.turns = [
    ...instructions(body["instructions"], at.member("instructions")),
    ...responsesTurns(body["input"], at.member("input")),
  ];
  offerTools(prompt, { object: body, at });
  readToolChoice(body["tool_choice"], at.member("tool_choice"), prompt);
  const own = { thinking: shown.summary, signed: shown.sealed, kept: isKept(body), echo: requestEcho(body) };
  return { prompt, options: answerOptions(prompt, own) };
}

const elsewhere: MemberReader = (_value, at) => {
  throw inexpressible(at, ELSEWHERE);
};

/** Members without a counterpart: `dropped` always, `neutral` with the values that mean the default. */
const LEFT_OUT: MemberReaders = {
  ...COMMON_LEFT_OUT,
  // What was said before, which is never left out.
  conversation: elsewhere,
  previous_response_id: elsewhere,
  // Read after the other members.
  input: ignored,
  instructions: ignored,
  // The provider's own telemetry.
  client_metadata: dropped,
  // Whether later calls may refer to the answer: read by what keeps it.
  store: ignored,
  // Bounds the calls of tools that the vendor runs itself.
  max_tool_calls: dropped,
  // A wish: the conversation stays as long as it is.
  context_management: dropped,
  background: neutral(false),
  truncation: neutral("disabled"),
  top_logprobs: neutral(0),
};

type Shown = { summary: boolean; sealed: boolean };

const readersFor = (prompt: Prompt, shown: Shown): MemberReaders => ({
  max_output_tokens: into(prompt, "maxTokens", located(numberAt)),
  tools: into(prompt, "tools", responsesTools),
  // Padding of the provider's own stream.
  stream_options: (value, at) => readObject(value, at, { include_obfuscation: dropped }),
  text: (value, at) =>
    readObject(value, at, {
      verbosity: extraInto(prompt, "verbosity", ["medium"]),
      format: into(prompt, "output", (format, place) => outputFormatAt(objectAt(format, place), place)),
    }),
  reasoning: (value, at) =>
    readObject(value, at, {
      effort: effortInto(prompt),
      summary: into(shown, "summary", () => true),
      generate_summary: into(shown, "summary", () => true),
      // Which of its own earlier thoughts the vendor's model reads.
      context: dropped,
    }),
  include: (value, at) => {
    for (const [index, name] of listAt(value, at).entries()) {
      shown.sealed ||= name === "reasoning.encrypted_content";
      if (name === "message.output_text.logprobs") lose(at.item(index));
    }
  },
});

function instructions(value: unknown, at: BodyPlace): Prompt["turns"] {
  if (value === undefined || value === null || value === "") return [];
  return [{ role: "system", parts: [plainText(textAt(value, at), at)], at }];
}
