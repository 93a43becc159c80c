import { schemaOutput } from "../chat/output-in.ts";
import { functionTool, readToolChoice } from "../chat/tools-in.ts";
import type { Json } from "../exact-json.ts";
import {
  flagAt,
  ignored,
  inexpressible,
  listAt,
  malformed,
  numberAt,
  objectAt,
  objectsAt,
  oneOfAt,
  only,
  readMembers,
  type Take,
  type Takes,
  textAt,
} from "../members.ts";
import { type Asked, EFFORTS, emptyPrompt, type Prompt } from "../prompt.ts";
import { echoOf } from "./echo.ts";
import { responsesTurns } from "./items-in.ts";

/** A responses request as what it asks for. Nothing is kept between calls, so what refers to an earlier one is refused. */
export function readResponsesRequest(body: Json): { prompt: Prompt; asked: Asked } {
  const prompt = emptyPrompt();
  const shown = { summary: false, sealed: false };
  readMembers(body, "", { ...IGNORED, ...NEUTRAL, ...takesOf(prompt, shown), ...toolTakes(prompt) });
  if (body["input"] === undefined || body["input"] === null) throw malformed("input", "a string or an array");
  prompt.turns = [...instructions(body["instructions"]), ...responsesTurns(body["input"], "input")];
  readToolChoice(body["tool_choice"], prompt);
  return {
    prompt,
    asked: {
      streamed: prompt.streamed,
      usageChunk: true,
      thinking: shown.summary,
      signed: shown.sealed,
      stop: [],
      echo: echoOf(body),
    },
  };
}

const IGNORED: Takes = {
  model: ignored,
  route: ignored,
  input: ignored,
  instructions: ignored,
  tool_choice: ignored,
  // Labels for the provider's own store and telemetry.
  metadata: ignored,
  client_metadata: ignored,
  prompt_cache_key: ignored,
  prompt_cache_options: ignored,
  prompt_cache_retention: ignored,
};

const NEUTRAL: Takes = {
  store: only(false),
  background: only(false),
  truncation: only("disabled"),
  top_logprobs: only(0),
};

type Shown = { summary: boolean; sealed: boolean };

const takesOf = (prompt: Prompt, shown: Shown): Takes => ({
  max_output_tokens: (value, at) => {
    prompt.maxTokens = { value: numberAt(value, at), at };
  },
  temperature: (value, at) => {
    prompt.temperature = { value: numberAt(value, at), at };
  },
  top_p: (value, at) => {
    prompt.topP = { value: numberAt(value, at), at };
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
  // Padding of the provider's own stream.
  stream_options: (value, at) => readMembers(objectAt(value, at), at, { include_obfuscation: ignored }),
  service_tier: extra(prompt, "service_tier", ["auto", "default"]),
  text: (value, at) =>
    readMembers(objectAt(value, at), at, {
      verbosity: extra(prompt, "verbosity", ["medium"]),
      format: (format, place) => {
        prompt.output = outputOf(objectAt(format, place), place);
      },
    }),
  reasoning: (value, at) =>
    readMembers(objectAt(value, at), at, {
      effort: (said, place) => {
        prompt.reasoning.effort = { value: oneOfAt(said, place, EFFORTS), at: place };
      },
      summary: () => {
        shown.summary = true;
      },
      generate_summary: () => {
        shown.summary = true;
      },
      context: only("auto", "current_turn"),
    }),
  include: (value, at) => {
    for (const [index, name] of listAt(value, at).entries()) {
      shown.sealed ||= name === "reasoning.encrypted_content";
      if (name === "message.output_text.logprobs") throw inexpressible(`${at}[${index}]`);
    }
  },
});

const toolTakes = (prompt: Prompt): Takes => ({
  tools: (value, at) => {
    prompt.tools = objectsAt(value, at).map(({ object, at: place }) => {
      if (object["type"] !== "function") throw inexpressible(`${place}.type`, "only function tools can be");
      return functionTool(object, place);
    });
  },
  parallel_tool_calls: (value, at) => {
    prompt.parallelTools = { value: flagAt(value, at), at };
  },
});

/** A member that one of the other formats has; one of the `neutral` values says nothing that needs saying. */
const extra =
  (prompt: Prompt, name: string, neutral: readonly string[]): Take =>
  (value, at) => {
    if (!neutral.includes(textAt(value, at))) prompt.extras.set(name, { value, at });
  };

function instructions(value: unknown): Prompt["turns"] {
  if (value === undefined || value === null || value === "") return [];
  const at = "instructions";
  return [{ role: "system", parts: [{ kind: "text", text: textAt(value, at), cache: null, at }], at }];
}

function outputOf(format: Json, at: string): Prompt["output"] {
  if (format["type"] === "text") return null;
  if (format["type"] === "json_object") return { kind: "json", at };
  if (format["type"] !== "json_schema") throw malformed(`${at}.type`, "text, json_object or json_schema");
  return schemaOutput(format, at);
}
