import { isJson, type Json } from "../exact-json.ts";
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
import { personIn } from "../person.ts";
import { type Asked, EFFORTS, emptyPrompt, type Prompt, type Tool, type Turn } from "../prompt.ts";
import { messagesContent } from "./content-in.ts";

/** A messages request as what it asks for. */
export function readMessagesRequest(body: Json): { prompt: Prompt; asked: Asked } {
  const prompt = emptyPrompt();
  const thinking = body["thinking"];
  readMembers(body, "", { ...IGNORED, ...takesOf(prompt) });
  if (!Array.isArray(body["messages"])) throw malformed("messages", "an array");
  if (!prompt.maxTokens) throw malformed("max_tokens", "a number");
  prompt.turns.unshift(...systemTurn(body["system"]));
  return {
    prompt,
    asked: {
      streamed: prompt.streamed,
      usageChunk: true,
      // A client that did not ask to see reasoning may not expect blocks of it.
      thinking: isJson(thinking) && thinking["type"] !== "disabled" && thinking["display"] !== "omitted",
      signed: true,
      stop: prompt.stop,
      echo: {},
    },
  };
}

const IGNORED: Takes = {
  model: ignored,
  route: ignored,
  system: ignored,
  cache_control: ignored,
  // Standard capacity, and figures about the vendor's own cache.
  service_tier: ignored,
  speed: only("standard"),
  diagnostics: ignored,
};

/** Nothing is kept between calls; told in the words by which the vendor's client then sends the whole conversation. */
const refuseThread: Take = (_value, at) => {
  const refusal = inexpressible(at, "conversations are not kept");
  refusal.details = { error_code: "thread_unsupported_request", unsupported: [at] };
  throw refusal;
};

const takesOf = (prompt: Prompt): Takes => ({
  thread: refuseThread,
  messages: (value, at) => {
    prompt.turns = objectsAt(value, at).map(({ object, at: place }) => turnOf(object, place));
  },
  max_tokens: (value, at) => {
    prompt.maxTokens = { value: numberAt(value, at), at };
  },
  temperature: (value, at) => {
    prompt.temperature = { value: numberAt(value, at), at };
  },
  top_p: (value, at) => {
    prompt.topP = { value: numberAt(value, at), at };
  },
  stop_sequences: (value, at) => {
    prompt.stop = listAt(value, at).map((one, index) => textAt(one, `${at}[${index}]`));
  },
  stream: (value, at) => {
    prompt.streamed = flagAt(value, at);
  },
  metadata: (value, at) =>
    readMembers(objectAt(value, at), at, {
      user_id: (id, place) => {
        prompt.user = personIn(textAt(id, place));
      },
    }),
  tools: (value, at) => {
    prompt.tools = objectsAt(value, at).map(({ object, at: place }) => toolOf(object, place));
  },
  tool_choice: (value, at) => readToolChoice(objectAt(value, at), at, prompt),
  thinking: (value, at) => readThinking(objectAt(value, at), at, prompt),
  output_config: (value, at) => readOutput(objectAt(value, at), at, prompt),
  context_management: (value, at) => readContextManagement(objectAt(value, at), at),
});

function turnOf(message: Json, at: string): Turn {
  const role = oneOfAt(message["role"], `${at}.role`, ["user", "assistant", "system"] as const);
  let parts: Turn["parts"] = [];
  readMembers(message, at, {
    role: ignored,
    content: (value, place) => {
      parts = messagesContent(value, place);
    },
  });
  return { role, parts, at };
}

/** The first block that Claude Code sends: a header for its vendor's billing, other in every call, and no prompt. */
const BILLING = /^x-anthropic-billing-header:/;

function systemTurn(system: unknown): Turn[] {
  if (system === undefined || system === null) return [];
  const parts = messagesContent(system, "system").filter(
    (part) => part.kind !== "text" || !BILLING.test(part.text),
  );
  return parts.length === 0 ? [] : [{ role: "system", parts, at: "system" }];
}

function toolOf(definition: Json, at: string): Tool {
  const { type } = definition;
  if (type !== undefined && type !== null && type !== "custom") {
    throw inexpressible(`${at}.type`, "only tools that the client runs can be");
  }
  const tool: Tool = { name: "", description: null, schema: null, strict: null, cache: null };
  readMembers(definition, at, {
    type: ignored,
    cache_control: ignored,
    // When arguments are streamed, not what they are.
    eager_input_streaming: ignored,
    defer_loading: only(false),
    allowed_callers: only(["direct"]),
    name: (value, place) => {
      tool.name = textAt(value, place);
    },
    description: (value, place) => {
      tool.description = textAt(value, place);
    },
    input_schema: (value, place) => {
      tool.schema = objectAt(value, place);
    },
    strict: (value, place) => {
      tool.strict = flagAt(value, place);
    },
  });
  if (tool.name === "") throw malformed(`${at}.name`, "a string");
  return tool;
}

function readToolChoice(choice: Json, at: string, prompt: Prompt): void {
  const kind = oneOfAt(choice["type"], `${at}.type`, ["auto", "any", "none", "tool"] as const);
  readMembers(choice, at, {
    type: ignored,
    name: ignored,
    disable_parallel_tool_use: (value, place) => {
      prompt.parallelTools = { value: !flagAt(value, place), at: place };
    },
  });
  const value = kind === "tool" ? { kind, name: textAt(choice["name"], `${at}.name`) } : ({ kind } as const);
  prompt.toolChoice = { value, at };
}

/**
 * `enabled` brings a budget. The others leave the amount to the model, which is what a reasoning model of the chat
 * format does unasked.
 */
function readThinking(thinking: Json, at: string, prompt: Prompt): void {
  oneOfAt(thinking["type"], `${at}.type`, ["enabled", "disabled", "adaptive", "between_tools"] as const);
  readMembers(thinking, at, {
    type: ignored,
    display: ignored,
    budget_tokens: (value, place) => {
      prompt.reasoning.budgetTokens = { value: numberAt(value, place), at: place };
    },
  });
}

function readOutput(config: Json, at: string, prompt: Prompt): void {
  readMembers(config, at, {
    effort: (value, place) => {
      prompt.reasoning.effort = { value: oneOfAt(value, place, EFFORTS), at: place };
    },
    format: (value, place) => {
      const format = objectAt(value, place);
      if (format["type"] !== "json_schema") throw inexpressible(`${place}.type`);
      prompt.output = {
        kind: "schema",
        name: "output",
        description: null,
        schema: objectAt(format["schema"], `${place}.schema`),
        strict: true,
        at: place,
      };
    },
  });
}

/** Edits of the context that take out reasoning of earlier turns, which is never sent in another format anyway. */
function readContextManagement(management: Json, at: string): void {
  readMembers(management, at, {
    edits: (value, place) => {
      for (const { object, at: where } of objectsAt(value, place)) {
        const { type } = object;
        if (typeof type !== "string" || !type.startsWith("clear_thinking_")) throw inexpressible(where);
      }
    },
  });
}
