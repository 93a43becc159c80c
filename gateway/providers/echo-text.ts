import { listOf, objectOf, type Told } from "./provider-json.ts";

/** What the built-in provider says to a body, and what that counts. */
export type Echoed = {
  text: string;
  /** `text` in pieces of one token each. */
  pieces: string[];
  inputTokens: number;
  outputTokens: number;
  /** The answer ends at its limit, not where the text does. */
  cut: boolean;
};

const CODE_POINTS_PER_TOKEN = 4;

/** Longest answer, in tokens, like any model's. */
const OUTPUT_TOKENS_MAX = 4096;

/** Tokens of a text by the rule of the built-in provider: one for every four Unicode code points begun. */
export const echoTokens = (text: string): number => Math.ceil(codePoints(text) / CODE_POINTS_PER_TOKEN);

/**
 * The echo of a chat or messages body: the text of its last user message, cut at `outputTokensMax` tokens. The input
 * counts every text of `system` and `messages`.
 */
export function echoOf(body: Told, outputTokensMax: number | null): Echoed {
  const messages = listOf(body["messages"]).map(objectOf);
  const last = messages.findLast((message) => message?.["role"] === "user");
  const whole = textsOf(last?.["content"]).join("\n");
  const limit = Math.min(outputTokensMax ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
  const pieces = piecesOf(whole, limit);
  const texts = [body["system"], ...messages.map((message) => message?.["content"])].flatMap(textsOf);
  return {
    text: pieces.join(""),
    pieces,
    inputTokens: texts.reduce((sum, text) => sum + echoTokens(text), 0),
    outputTokens: pieces.length,
    cut: echoTokens(whole) > pieces.length,
  };
}

/** The texts of a content member: a string, or a list of parts of which those with a `text` count. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return listOf(content).flatMap((part) => {
    const text = objectOf(part)?.["text"];
    return typeof text === "string" ? [text] : [];
  });
}

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

/** The header that tells a call's id in OpenAI's manner. */
export const requestIdOf = (id: string) => ({ "x-request-id": `req_echo_${id}` });

/** A JSON answer of the built-in provider. */
export const jsonAnswer = (body: unknown, status: number, headers: Record<string, string>): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

/** An event stream of the built-in provider. */
export const streamAnswer = (events: string, headers: Record<string, string>): Response =>
  new Response(events, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", ...headers },
  });
