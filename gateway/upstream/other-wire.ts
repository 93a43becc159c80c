import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { Call } from "../call.ts";
import { lacksWire, targetWires } from "../providers/endpoint.ts";
import type { WireName } from "../surface-facts.ts";
import { type AnsweredAttempt, type Attempt, encodingOf } from "./attempt.ts";
import type { LearnedWires } from "./learned-wires.ts";
import { isTranslatable } from "./translation.ts";
import type { AnswerPart } from "./whole-body.ts";

/** Statuses of a refusal that may say that the provider lacks the wire for the model. */
const TEACHING = new Set([400, 404, 405, 501]);

/** Refusals of the chat wire name the other one, or say that the model does not use this wire. */
const NOT_BY_CHAT =
  /\/?v1\/responses|responses api|not a chat model|via the \/chat\/completions endpoint|unsupported_api_for_model|chatCompletion operation/i;
/** Refusals of the responses wire, where they say more than that nothing is there. */
const NOT_BY_RESPONSES = /chat\/completions|\/responses\b|responses (?:api|endpoint|operation)/i;
/** What is missing is a model or an object of the vendor's, and not the address. */
const MISSING_OBJECT =
  /model_not_found|\bmodels?\b[^.]{0,80}(?:not (?:exist|found)|unknown)|not found[^.]{0,20}\bmodel|with id/i;

const OTHERS: Readonly<Partial<Record<WireName, "chat" | "responses">>> = {
  chat: "responses",
  responses: "chat",
};

/** The other wire on which a refused call may be tried; null: the refusal stands. Costs nothing for any other answer. */
export function otherWire(
  attempt: Attempt,
  { surface, upload }: Call,
  learned: LearnedWires,
): WireName | null {
  if (attempt.kind !== "answer" || !TEACHING.has(attempt.answer.status) || upload) return null;
  const { target } = attempt;
  const { provider, model } = target;
  const other = OTHERS[target.wire];
  if (!other || model === null || !isTranslatable(surface) || surface === "responses.compact") return null;
  const isKnown = lacksWire(provider.kind, model, other) || learned.lacks(provider, model, other);
  return targetWires(provider, model).includes(other) && !isKnown ? other : null;
}

/** Whether a refusal says that the provider lacks the wire for the model. */
export function teaches({ answer, target }: AnsweredAttempt, text: string): boolean {
  if (target.wire === "chat") return NOT_BY_CHAT.test(text);
  if (answer.status === 400) return NOT_BY_RESPONSES.test(text);
  return answer.status !== 404 || NOT_BY_RESPONSES.test(text) || !MISSING_OBJECT.test(text);
}

const DECODERS: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer>
> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
  zstd: zstdDecompressSync,
};
/** A refusal that says more is not read. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** The text of a refusal; empty if it cannot be read. */
export function textOfRefusal(refused: AnsweredAttempt, bytes: Uint8Array): string {
  const encoding = refused.translation ? null : encodingOf(refused);
  try {
    const decode = encoding === null ? null : DECODERS[encoding];
    if (encoding !== null && !decode) return "";
    return new TextDecoder().decode(decode ? decode(bytes, { maxOutputLength: TEXT_BYTES_MAX }) : bytes);
  } catch {
    return "";
  }
}

/** The same answer again, of which a beginning was read. */
export function unread(
  refused: AnsweredAttempt,
  body: Uint8Array<ArrayBuffer> | (() => Promise<AnswerPart>),
): AnsweredAttempt {
  const { status, headers } = refused.answer;
  const again = typeof body === "function" ? streamOf(body) : body;
  return { ...refused, answer: new Response(again, { status, headers }) };
}

const streamOf = (read: () => Promise<AnswerPart>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
