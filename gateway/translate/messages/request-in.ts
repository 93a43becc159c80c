import { cacheInto, effortInto, extraInto, stopInto } from "../common-members.ts";
import { isJson, type Json } from "../exact-json.ts";
import type { MemberReader, MemberReaders } from "../members.ts";
import { dropped, ignored, into, neutral, readObject } from "../members.ts";
import { type BodyPlace, inexpressible, type LocatedBody, malformed } from "../place.ts";
import type { OutputFormat, Prompt, PromptRead, PromptTurn } from "../prompt.ts";
import { answerOptions, emptyPrompt, schemaOutput } from "../prompt.ts";
import { isClosed } from "../tool-schema.ts";
import { offerFound } from "../tool-table.ts";
import { flagAt, located, numberAt, objectAt, objectsAt, oneOfAt, textAt } from "../values.ts";
import { messagesContent } from "./content-in.ts";
import { foundTools, messagesTools } from "./tools-in.ts";

export function readMessagesRequest({ object: body, at }: LocatedBody): PromptRead {
  const prompt = emptyPrompt();
  const thinking = body["thinking"];
  readObject(body, at, { ...LEFT_OUT, ...readersFor(prompt) });
  if (!Array.isArray(body["messages"])) throw malformed(at.member("messages"), "an array");
  if (!prompt.maxTokens) throw malformed(at.member("max_tokens"), "a number");
  offerFound(prompt, foundTools(body));
  prompt.turns.unshift(...systemTurn(body["system"], at.member("system")));
  return {
    prompt,
    options: answerOptions(prompt, {
      // A client that did not ask to see reasoning may not expect blocks of it.
      thinking: isJson(thinking) && thinking["type"] !== "disabled",
      omitted: isJson(thinking) && thinking["display"] === "omitted",
    }),
  };
}

/** Members without a counterpart: `dropped` always, `neutral` with the values that mean the default. */
const LEFT_OUT: MemberReaders = {
  // Read by the gateway itself.
  model: ignored,
  route: ignored,
  // Read after the messages.
  system: ignored,
  // The vendor's own capacity, and figures about its cache: the answer is the same.
  service_tier: dropped,
  diagnostics: dropped,
  // A wish: the conversation stays as long as it is.
  context_management: dropped,
  speed: neutral("standard"),
};

/** Conversations are not stored. The vendor's client recognises this error and then sends the whole conversation. */
const refuseThread: MemberReader = (_value, at) => {
  const refusal = inexpressible(at, "conversations are not kept");
  refusal.details = { error_code: "thread_unsupported_request", unsupported: [String(at)] };
  throw refusal;
};

const readersFor = (prompt: Prompt): MemberReaders => ({
  cache_control: cacheInto(prompt),
  thread: refuseThread,
  messages: into(prompt, "turns", (value, at) =>
    objectsAt(value, at).flatMap(({ object, at: place }) => turnOf(object, place)),
  ),
  max_tokens: into(prompt, "maxTokens", located(numberAt)),
  temperature: into(prompt, "temperature", located(numberAt)),
  top_p: into(prompt, "topP", located(numberAt)),
  top_k: extraInto(prompt, "top_k"),
  stop_sequences: stopInto(prompt),
  stream: into(prompt, "streamed", flagAt),
  metadata: (value, at) =>
    readObject(value, at, {
      user_id: into(prompt, "user", (id, place) => personIn(textAt(id, place))),
    }),
  tools: into(prompt, "tools", messagesTools),
  tool_choice: (value, at) => readToolChoice(objectAt(value, at), at, prompt),
  thinking: (value, at) => readThinking(objectAt(value, at), at, prompt),
  output_config: (value, at) => readOutput(objectAt(value, at), at, prompt),
  // As betas name it.
  output_format: (value, at) => readOutput({ format: value }, at, prompt),
});

/** A message of which nothing is left is left out. */
function turnOf(message: Json, at: BodyPlace): PromptTurn[] {
  const role = oneOfAt(message["role"], at.member("role"), ["user", "assistant", "system"] as const);
  const turn: PromptTurn = { role, parts: [], at };
  readObject(message, at, { role: ignored, content: into(turn, "parts", messagesContent) });
  const { content } = message;
  return turn.parts.length === 0 && Array.isArray(content) && content.length > 0 ? [] : [turn];
}

/** `user_<hash>_account_<uuid>_session_<uuid>`: how Claude Code wrote it before it wrote JSON. */
const TOOL_ID = /^\{|_session_[0-9a-f-]{36}$/i;

/** The person of `metadata.user_id`; null: JSON, or one that ends in a session, is a tool's telemetry. */
const personIn = (userId: string): string | null => (TOOL_ID.test(userId.trim()) ? null : userId);

/** The first block that Claude Code sends: a header for its vendor's billing, other in every call, and no prompt. */
const BILLING = /^x-anthropic-billing-header:/;

function systemTurn(system: unknown, at: BodyPlace): PromptTurn[] {
  if (system === undefined || system === null) return [];
  const parts = messagesContent(system, at).filter(
    (part) => part.kind !== "text" || !BILLING.test(part.text),
  );
  return parts.length === 0 ? [] : [{ role: "system", parts, at }];
}

function readToolChoice(choice: Json, at: BodyPlace, prompt: Prompt): void {
  const kind = oneOfAt(choice["type"], at.member("type"), ["auto", "any", "none", "tool"] as const);
  readObject(choice, at, {
    type: ignored,
    name: ignored,
    disable_parallel_tool_use: (value, place) => {
      prompt.parallelTools = { value: !flagAt(value, place), at: place };
    },
  });
  const value =
    kind === "tool" ? { kind, name: textAt(choice["name"], at.member("name")) } : ({ kind } as const);
  prompt.toolChoice = { value, at };
}

/** `enabled` brings a budget. The others leave the amount to the model, as chat's reasoning models do unasked. */
function readThinking(thinking: Json, at: BodyPlace, prompt: Prompt): void {
  const types = ["enabled", "disabled", "adaptive", "between_tools"] as const;
  prompt.reasoning.off = oneOfAt(thinking["type"], at.member("type"), types) === "disabled";
  readObject(thinking, at, {
    type: ignored,
    display: ignored,
    budget_tokens: into(prompt.reasoning, "budgetTokens", located(numberAt)),
  });
}

function readOutput(config: Json, at: BodyPlace, prompt: Prompt): void {
  readObject(config, at, {
    effort: effortInto(prompt),
    format: into(prompt, "output", (value, place): OutputFormat => {
      const format = objectAt(value, place);
      if (format["type"] !== "json_schema") throw inexpressible(place.member("type"));
      const schema = objectAt(format["schema"], place.member("schema"));
      return schemaOutput(schema, place, isClosed(schema));
    }),
  });
}
