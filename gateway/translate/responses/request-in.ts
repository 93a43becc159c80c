import { outputFormatAt } from "../chat/output-in.ts";
import { functionTool, readToolChoice } from "../chat/tools-in.ts";
import { COMMON_IGNORED, commonReaders } from "../common-members.ts";
import type { Json } from "../exact-json.ts";
import {
  ignored,
  inexpressible,
  into,
  listAt,
  located,
  type MemberReader,
  type MemberReaders,
  malformed,
  numberAt,
  objectAt,
  objectsAt,
  oneOfAt,
  only,
  readMembers,
  textAt,
} from "../members.ts";
import { type AnswerOptions, EFFORTS, emptyPrompt, type Prompt, plainText } from "../prompt.ts";
import { requestEcho } from "./echo.ts";
import { responsesTurns } from "./items-in.ts";

/** Reads a responses request. Nothing is kept between calls, so references to earlier ones are refused. */
export function readResponsesRequest(body: Json): { prompt: Prompt; options: AnswerOptions } {
  const prompt = emptyPrompt();
  const shown = { summary: false, sealed: false };
  readMembers(body, "", { ...IGNORED, ...NEUTRAL, ...commonReaders(prompt), ...readersFor(prompt, shown) });
  if (body["input"] === undefined || body["input"] === null) throw malformed("input", "a string or an array");
  prompt.turns = [...instructions(body["instructions"]), ...responsesTurns(body["input"], "input")];
  readToolChoice(body["tool_choice"], prompt);
  return {
    prompt,
    options: {
      streamed: prompt.streamed,
      usageChunk: true,
      thinking: shown.summary,
      signed: shown.sealed,
      stop: [],
      echo: requestEcho(body),
    },
  };
}

const IGNORED: MemberReaders = {
  ...COMMON_IGNORED,
  // Read after the other members.
  input: ignored,
  instructions: ignored,
  // The provider's own telemetry.
  client_metadata: ignored,
};

const NEUTRAL: MemberReaders = {
  store: only(false),
  background: only(false),
  truncation: only("disabled"),
  top_logprobs: only(0),
};

type Shown = { summary: boolean; sealed: boolean };

const readersFor = (prompt: Prompt, shown: Shown): MemberReaders => ({
  max_output_tokens: into(prompt, "maxTokens", located(numberAt)),
  tools: into(prompt, "tools", (value, at) =>
    objectsAt(value, at).map(({ object, at: place }) => {
      if (object["type"] !== "function") throw inexpressible(`${place}.type`, "only function tools can be");
      return functionTool(object, place);
    }),
  ),
  // Padding of the provider's own stream.
  stream_options: (value, at) => readMembers(objectAt(value, at), at, { include_obfuscation: ignored }),
  service_tier: extra(prompt, "service_tier", ["auto", "default"]),
  text: (value, at) =>
    readMembers(objectAt(value, at), at, {
      verbosity: extra(prompt, "verbosity", ["medium"]),
      format: into(prompt, "output", (format, place) => outputFormatAt(objectAt(format, place), place)),
    }),
  reasoning: (value, at) =>
    readMembers(objectAt(value, at), at, {
      effort: into(
        prompt.reasoning,
        "effort",
        located((effort, place) => oneOfAt(effort, place, EFFORTS)),
      ),
      summary: into(shown, "summary", () => true),
      generate_summary: into(shown, "summary", () => true),
      context: only("auto", "current_turn"),
    }),
  include: (value, at) => {
    for (const [index, name] of listAt(value, at).entries()) {
      shown.sealed ||= name === "reasoning.encrypted_content";
      if (name === "message.output_text.logprobs") throw inexpressible(`${at}[${index}]`);
    }
  },
});

/** A member that only one of the other formats has. The `neutral` values mean the default and are dropped. */
const extra =
  (prompt: Prompt, name: string, neutral: readonly string[]): MemberReader =>
  (value, at) => {
    if (!neutral.includes(textAt(value, at))) prompt.extras.set(name, { value, at });
  };

function instructions(value: unknown): Prompt["turns"] {
  if (value === undefined || value === null || value === "") return [];
  const at = "instructions";
  return [{ role: "system", parts: [plainText(textAt(value, at), at)], at }];
}
