import { listOf, nameOf, objectOf, type ProviderObject } from "../../providers/provider-json.ts";
import type { OwnAnswer } from "../own-answer.ts";

const CODE_POINTS_PER_TOKEN = 4;

/** Longest answer, in tokens. */
const OUTPUT_TOKENS_MAX = 4096;

/** The built-in provider's token count: one per four Unicode code points, rounded up. */
export const echoTokens = (text: string): number => Math.ceil(codePoints(text) / CODE_POINTS_PER_TOKEN);

/** The model that an answer of the built-in provider names. */
export const echoModel = (body: ProviderObject): string => nameOf(body["model"]) ?? "echo";

/** Input tokens of a chat or messages body: all texts of `system` and `messages`. */
export function echoInputTokens(body: ProviderObject): number {
  const messages = listOf(body["messages"]).map((message) => objectOf(message)?.["content"]);
  return [body["system"], ...messages].flatMap(echoTexts).reduce((sum, text) => sum + echoTokens(text), 0);
}

type Echo = Pick<OwnAnswer, "pieces" | "inputTokens" | "outputTokens" | "truncated">;

/** The text of a chat or messages body's last user message, cut at `outputTokensMax` tokens. */
export function echoReply(body: ProviderObject, outputTokensMax: number | null): Echo {
  const messages = listOf(body["messages"]).map(objectOf);
  const last = messages.findLast((message) => message?.["role"] === "user");
  const whole = echoTexts(last?.["content"]).join("\n");
  const pieces = piecesOf(whole, Math.min(outputTokensMax ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX));
  return {
    pieces,
    inputTokens: echoInputTokens(body),
    outputTokens: pieces.length,
    truncated: echoTokens(whole) > pieces.length,
  };
}

/** The texts of a content member: a string, or a list of parts of which those with a `text` count. */
export function echoTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return listOf(content).flatMap((part) => {
    const text = objectOf(part)?.["text"];
    return typeof text === "string" ? [text] : [];
  });
}

/** The text in pieces of one token each. */
function piecesOf(text: string, piecesMax: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length && pieces.length < piecesMax) {
    let to = from;
    for (let count = 0; count < CODE_POINTS_PER_TOKEN && to < text.length; count += 1) {
      to += (text.codePointAt(to) ?? 0) > 0xffff ? 2 : 1;
    }
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export const jsonAnswer = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

export const streamAnswer = (events: string): Response =>
  new Response(events, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });

/** A refusal on the OpenAI wires. `param` names the member at fault. */
export const refusalAnswer = (message: string, param: string | null = null): Response =>
  jsonAnswer({ error: { message, type: "invalid_request_error", param, code: null } }, 400);
