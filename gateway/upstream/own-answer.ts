import { NO_USAGE } from "#shared/usage.ts";
import type { Call, Choice } from "../call.ts";
import { ERRORS } from "../errors.ts";
import { asksForUsage } from "../http/splice.ts";
import { WIRES } from "../providers/wires.ts";
import { SURFACES, surfaceFacts, type WireName } from "../surface-facts.ts";
import type { Json } from "../translate/exact-json.ts";
import type { ReplyStep } from "../translate/reply.ts";
import { requestEcho } from "../translate/responses/echo.ts";
import { writtenAnswer } from "../translate/translate.ts";
import { dataEvent } from "../translate/writing.ts";

/** A complete answer in text that the gateway writes itself: the built-in provider's, or a soft denial. */
export type OwnAnswer = {
  /** Identifies the answer; each wire puts its vendor's prefix in front. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  createdAt: number;
  /** The text, in the pieces that a stream sends. */
  pieces: readonly string[];
  inputTokens: number;
  outputTokens: number;
  /** The answer ends at its token limit. */
  truncated: boolean;
  streamed: boolean;
  /** Chat streams only: the client requested the usage chunk. */
  includeUsage: boolean;
  /** Responses only: the request whose members the answer repeats. */
  request?: Json;
};

/** The wires on which an assistant answers in text, and what their vendors' ids begin with. */
const ID_PREFIXES = {
  chat: "chatcmpl-",
  messages: "msg_",
  responses: "resp_",
  completions: "cmpl-",
  gemini: "",
} as const satisfies Partial<Record<WireName, string>>;

export type TextWire = keyof typeof ID_PREFIXES;
const isTextWire = (wire: WireName): wire is TextWire => Object.hasOwn(ID_PREFIXES, wire);

/** The answer as its wire writes it (decision: The gateway's own answers are written like translated ones). */
export function ownAnswer(wire: TextWire, answer: OwnAnswer): Response {
  const id = ID_PREFIXES[wire] + answer.id;
  const text = wire === "completions" ? completion(id, answer) : translated(wire, id, answer);
  const headers = answer.streamed
    ? { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }
    : { "content-type": "application/json" };
  return new Response(text, { headers });
}

function translated(wire: Exclude<TextWire, "completions">, id: string, answer: OwnAnswer): string {
  const {
    model,
    pieces,
    inputTokens,
    outputTokens,
    truncated,
    streamed,
    includeUsage,
    request = {},
  } = answer;
  const steps: ReplyStep[] = [
    { kind: "start", id, model },
    { kind: "open", block: { kind: "text" } },
    ...pieces.map((text) => ({ kind: "more", text }) as const),
    { kind: "close" },
    { kind: "stop", reason: truncated ? "max_tokens" : "end_turn", sequence: null, explanation: null },
    { kind: "end" },
  ];
  const usage = { ...NO_USAGE, uncachedInputTokens: inputTokens, outputTokens };
  return writtenAnswer(wire, steps, {
    options: {
      streamed,
      usageChunk: includeUsage,
      thinking: false,
      signed: false,
      stop: [],
      // It cannot be requested again.
      echo: { ...requestEcho(request), store: false },
      kept: false,
    },
    token: answer.id,
    seal: () => null,
    createdSeconds: answer.createdAt,
    usage: () => usage,
    keep() {},
  });
}

/** One of OpenAI's older completions, a format that nothing is translated into. */
function completion(id: string, answer: OwnAnswer): string {
  const { model, createdAt, pieces, inputTokens, outputTokens, truncated } = answer;
  const written = (choices: object[], counted: boolean) => ({
    id,
    object: "text_completion",
    created: createdAt,
    model,
    choices,
    ...(counted && {
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    }),
  });
  const choice = (text: string, finish_reason: string | null) => ({
    index: 0,
    text,
    logprobs: null,
    finish_reason,
  });
  const end = truncated ? "length" : "stop";
  if (!answer.streamed) return JSON.stringify(written([choice(pieces.join(""), end)], true));
  const chunks = [
    ...pieces.map((piece) => written([choice(piece, null)], false)),
    written([choice("", end)], false),
    ...(answer.includeUsage ? [written([], true)] : []),
  ];
  return `${chunks.map(dataEvent).join("")}data: [DONE]\n\n`;
}

/** A guardrail's refusal as an ordinary answer with zero usage. Null on surfaces that do not answer with text. */
export function denialOf(call: Call, choice: Choice, message: string | null): Response | null {
  const { wire } = SURFACES[call.surface];
  if (surfaceFacts(call.surface).unrecorded || !isTextWire(wire)) return null;
  const answer = ownAnswer(wire, {
    pieces: [message ?? ERRORS.guardrail_blocked.public],
    id: call.id,
    model: choice.targets[0].model ?? choice.routeName,
    createdAt: Math.floor(call.admittedAt.getTime() / 1000),
    inputTokens: 0,
    outputTokens: 0,
    truncated: false,
    streamed: call.streamed,
    includeUsage: asksForUsage(call.body),
  });
  answer.headers.set("x-gateway-guardrail", "soft-deny");
  answer.headers.set(WIRES[wire].requestIdHeader, call.id);
  return answer;
}
