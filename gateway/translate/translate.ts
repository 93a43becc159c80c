import type { Usage } from "#shared/usage.ts";
import { GatewayError, refuse } from "../errors.ts";
import { chatAnswerSteps, chatStream } from "./chat/answer-in.ts";
import { writeChatAnswer } from "./chat/answer-out.ts";
import { readChatRequest } from "./chat/request-in.ts";
import { type ChatDialect, writeChatRequest } from "./chat/request-out.ts";
import { chatWriter } from "./chat/stream-out.ts";
import { askForSummary, compactsIn } from "./compaction.ts";
import { type ClientWire, clientErrorBody, faultInAnswer } from "./error-shapes.ts";
import { errorInBytes, type Json, jsonBytes, objectInBytes, type StepReader } from "./exact-json.ts";
import { geminiSteps, geminiStream } from "./gemini/answer-in.ts";
import { geminiWriter, writeGeminiAnswer } from "./gemini/answer-out.ts";
import { readGeminiRequest } from "./gemini/request-in.ts";
import { lacksJsonWithTools, writeGeminiRequest } from "./gemini/request-out.ts";
import { messageSteps, messageStream } from "./messages/answer-in.ts";
import { messageWriter, writeMessage } from "./messages/answer-out.ts";
import { askByTool, textOfTool } from "./messages/json-answer.ts";
import { readMessagesRequest } from "./messages/request-in.ts";
import { writeMessagesRequest } from "./messages/request-out.ts";
import { BodyPlace, type Dropped, type LocatedBody, Losses, type OnInexpressible } from "./place.ts";
import { preparePrompt } from "./prepare-prompt.ts";
import type { Prompt, PromptRead } from "./prompt.ts";
import { type Reply, type ReplyStep, replyOf } from "./reply.ts";
import { responseSteps, responseStream } from "./responses/answer-in.ts";
import { writeResponse } from "./responses/answer-out.ts";
import { type Answered, answerToken, keptInput } from "./responses/references.ts";
import { readResponsesRequest } from "./responses/request-in.ts";
import { writeResponsesRequest } from "./responses/request-out.ts";
import { responseWriter } from "./responses/stream-out.ts";
import { type StreamTranslator, streamTranslator } from "./stream-translator.ts";
import { sealOf } from "./thoughts.ts";
import { fitToolNames, withOwnName } from "./tool-names.ts";
import { requireChosenTool } from "./tool-table.ts";
import { takeSearch } from "./web-search.ts";
import { withoutWishes } from "./wishes.ts";
import type { StepWriter, WriterContext } from "./writing.ts";

type ProviderWire = "chat" | "messages" | "gemini" | "responses";

/** Functions of a client's format: read its requests, and write answers to them. */
type ClientFormat = {
  read(body: LocatedBody): PromptRead;
  whole(reply: Reply, writing: WriterContext): object;
  stream(writing: WriterContext): StepWriter;
};

const CLIENT_FORMATS: Readonly<Record<ClientWire, ClientFormat>> = {
  chat: { read: readChatRequest, whole: writeChatAnswer, stream: chatWriter },
  messages: { read: readMessagesRequest, whole: writeMessage, stream: messageWriter },
  gemini: { read: readGeminiRequest, whole: writeGeminiAnswer, stream: geminiWriter },
  responses: { read: readResponsesRequest, whole: writeResponse, stream: responseWriter },
};

/** An answer in the client's format that no provider gave, whole or as a stream. */
export function writtenAnswer(wire: ClientWire, steps: readonly ReplyStep[], writing: WriterContext): string {
  const { whole, stream } = CLIENT_FORMATS[wire];
  if (!writing.options.streamed) return JSON.stringify(whole(replyOf(steps), writing));
  return steps.map(stream(writing)).join("");
}

/** Write requests, and read answers. */
type ProviderFormat = {
  write(prompt: Prompt, model: string, dialect: ChatDialect): Json;
  whole(answer: Json, stop: readonly string[]): ReplyStep[];
  stream(stop: readonly string[]): StepReader;
};

const PROVIDER_FORMATS: Readonly<Record<ProviderWire, ProviderFormat>> = {
  chat: { write: writeChatRequest, whole: chatAnswerSteps, stream: chatStream },
  messages: { write: writeMessagesRequest, whole: messageSteps, stream: messageStream },
  gemini: { write: writeGeminiRequest, whole: geminiSteps, stream: geminiStream },
  responses: { write: writeResponsesRequest, whole: responseSteps, stream: responseStream },
};

/** `compacts`: the client asks for a compaction of its conversation instead of an answer. `searches`: the provider searches the web. */
export type Pair = { from: ClientWire; to: ProviderWire; compacts?: boolean; searches?: boolean };

export type Translated = {
  body: Uint8Array<ArrayBuffer>;
  dropped: Dropped;
  /** A whole answer in the client's format; null when it is no answer of the provider's format. */
  answer(bytes: Uint8Array, usage: Usage): Uint8Array<ArrayBuffer> | null;
  /** An error in place of an answer with a good status, in the client's shape; null if it is not an error. */
  fault(bytes: Uint8Array): { status: number; body: Uint8Array<ArrayBuffer> } | null;
  /** A refusal of the provider's, in the client's shape. */
  refusal(bytes: Uint8Array, response: { status: number; requestId: string | null }): Uint8Array<ArrayBuffer>;
  /** A translator of one stream. `usage` returns the counts so far. */
  stream(usage: () => Usage): StreamTranslator;
  /** The data kept of a complete answer for later calls, once it is written; null if nothing may be kept. */
  answered(): AnsweredParts | null;
};

type AnsweredParts = Pick<Answered, "input" | "output">;

export type TranslationInput = {
  pair: Pair;
  /** The model to ask the provider for. */
  model: string;
  dialect: ChatDialect;
  onInexpressible: OnInexpressible;
  createdSeconds: number;
  /** The client asks for a stream elsewhere than in its body. */
  streamed?: boolean;
  /** Names an answer whose provider gives it no id. */
  callId: string;
  /** What the model is known to refuse (wishes.ts). */
  lacks?: readonly string[];
};

/** A call in its provider's format, and the way back. @throws GatewayError invalid_request naming a misfit member */
export function translate(
  bytes: Uint8Array,
  { pair, model, dialect, onInexpressible, createdSeconds, callId, streamed, lacks = [] }: TranslationInput,
): Translated {
  const client = CLIENT_FORMATS[pair.from];
  const provider = PROVIDER_FORMATS[pair.to];
  const losses = lossesOf({ pair, dialect, onInexpressible });
  const request = requestIn(bytes);
  const { prompt, options } = readRequest(request, pair, losses);
  prompt.streamed ||= streamed === true;
  const replaced = fitToolNames(prompt);
  const byTool = jsonTool(prompt, { pair, model });
  /** Reads one answer's steps as the client must see them. */
  const readSteps = (): ((step: ReplyStep) => ReplyStep[]) => {
    const asText = byTool === null ? (step: ReplyStep) => [step] : textOfTool(byTool);
    return (step) =>
      step.kind === "start" && step.id === ""
        ? [{ ...step, id: callId }]
        : asText(withOwnName(step, replaced));
  };

  let answered: AnsweredParts | null = null;
  const writing = (usage: () => Usage): WriterContext => ({
    options,
    token: answerToken(callId),
    seal: sealOf({ vendor: dialect.thoughts.vendor, unsigned: dialect.thoughts.in === "reasoning_content" }),
    createdSeconds,
    usage,
    keep: (output) => {
      answered = { input: keptInput(request), output };
    },
  });

  const body = jsonBytes(withoutWishes(writtenRequest(prompt, { pair, model, dialect }), lacks, losses));
  return {
    body,
    dropped: losses.dropped,
    answer(answer, usage) {
      const object = objectInBytes(answer);
      const reply = object && replyOf(provider.whole(object, options.stop).flatMap(readSteps()));
      return reply?.stop
        ? jsonBytes(
            client.whole(
              reply,
              writing(() => usage),
            ),
          )
        : null;
    },
    fault(answer) {
      const object = objectInBytes(answer);
      const fault = faultInAnswer(pair.from, object, replyOf(object ? provider.whole(object, []) : []).error);
      return fault && { status: fault.status, body: jsonBytes(fault.body) };
    },
    refusal: (body, { status, requestId }) =>
      jsonBytes(clientErrorBody(pair.from, { status, body: errorInBytes(body), requestId })),
    stream: (usage) =>
      streamTranslator(provider.stream(options.stop), client.stream(writing(usage)), readSteps()),
    answered: () => answered,
  };
}

/** The tool by which a JSON answer is asked for; null where the format has a member for it. */
const jsonTool = (prompt: Prompt, { pair: { to }, model }: Pick<TranslationInput, "pair" | "model">) =>
  to === "messages" || (to === "gemini" && prompt.tools.length > 0 && lacksJsonWithTools(model))
    ? askByTool(prompt, model)
    : null;

/** @throws GatewayError invalid_request */
function requestIn(bytes: Uint8Array): Json {
  const request = objectInBytes(bytes);
  if (!request) refuse("The body must be one JSON object.");
  return request;
}

/** @throws GatewayError invalid_request */
function readRequest(
  request: Json,
  { from, to, compacts: whole = false, searches = false }: Pair,
  losses: Losses,
): ReturnType<ClientFormat["read"]> {
  const body = { object: request, at: BodyPlace.body(losses) };
  const read = CLIENT_FORMATS[from].read(body);
  const { prompt, options } = read;
  const compacts = from === "responses" ? compactsIn(request, whole) : null;
  if (compacts) {
    askForSummary(prompt, body);
    Object.assign(options, { compacts, thinking: false, signed: false, kept: options.kept && !whole });
  }
  prompt.reasoning.shown = options.thinking && options.omitted !== true;
  // Google's older models search only where they get no functions.
  takeSearch(prompt, searches && (to !== "gemini" || prompt.tools.every(({ search }) => search)));
  requireChosenTool(prompt);
  const forms = prompt.tools.flatMap(({ name, form }) => (form ? [[name, form] as const] : []));
  return forms.length === 0 ? read : { prompt, options: { ...options, forms: new Map(forms) } };
}

/** @throws GatewayError invalid_request */
const writtenRequest = (
  prompt: Prompt,
  { pair, model, dialect }: Pick<TranslationInput, "pair" | "model" | "dialect">,
): Json => {
  preparePrompt(prompt, pair.to, dialect.thoughts);
  return PROVIDER_FORMATS[pair.to].write(prompt, model, dialect);
};

/** What a translation leaves out; cache marks are not part of it where the provider takes them. */
const lossesOf = (it: Pick<TranslationInput, "pair" | "dialect" | "onInexpressible">): Losses =>
  new Losses(it.onInexpressible, { cacheMarks: it.pair.to === "messages" || it.dialect.cacheMarks === true });

/** The facts that decide whether a call can be translated. */
export type Expressed = Pick<TranslationInput, "pair" | "model" | "dialect" | "onInexpressible">;

/** Why the provider's format cannot express a call; null if it can. Pure: asked before the first attempt. */
export function whyInexpressible(bytes: Uint8Array, to: Expressed): GatewayError | null {
  try {
    const { prompt } = readRequest(requestIn(bytes), to.pair, lossesOf(to));
    jsonTool(prompt, to);
    writtenRequest(prompt, to);
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
