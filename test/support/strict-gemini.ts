import type OpenAI from "openai";
import { atEnd } from "./at-end.ts";

type Request = OpenAI.ChatCompletionCreateParams;
type Signed = { extra_content?: { google?: { thought_signature?: string } } };

/** What Google documents in place of a signature that nobody knows (ai.google.dev, "Thought signatures"). */
const UNKNOWN = "skip_thought_signature_validator";

export type StrictGemini = {
  /** As OpenAI's root, without a trailing slash. */
  url: string;
  /** Since `forget`, the signatures of the first calls of all messages of each request. */
  seen: string[][];
  /** Why requests were refused since `forget`. */
  refused: string[];
  forget(): void;
};

/**
 * A stand-in for Gemini 3 at its address in OpenAI's format: it calls a tool twice at once, signs the first of these calls, and refuses
 * a message whose first call has neither a signature of its own nor the documented text. Once it has results, it answers.
 */
export function strictGemini(): StrictGemini {
  const seen: string[][] = [];
  const refused: string[] = [];
  let made = 0;
  const signed = new Map<string, string>();

  const calls = (city: string) => {
    made += 1;
    const signature = Buffer.from(`signature ${made}`).toString("base64");
    signed.set(`function-call-${made}-0`, signature);
    return [city, "Bergen"].map((name, index) => ({
      id: `function-call-${made}-${index}`,
      type: "function",
      function: { name: "weather", arguments: JSON.stringify({ city: name }) },
      ...(index === 0 && { extra_content: { google: { thought_signature: signature } } }),
    }));
  };

  const faultOf = ({ messages }: Request): string | null => {
    const signatures: string[] = [];
    for (const message of messages) {
      const [first, ...rest] = message.role === "assistant" ? (message.tool_calls ?? []) : [];
      if (!first) continue;
      const signature = (first as Signed).extra_content?.google?.thought_signature;
      if (signature === undefined)
        return "Function call is missing a thought_signature in functionCall parts.";
      if (signature !== UNKNOWN && signature !== signed.get(first.id)) return "Corrupted thought signature.";
      if (rest.some((call) => "extra_content" in call)) return "A signature that was never there.";
      signatures.push(signature);
    }
    seen.push(signatures);
    return null;
  };

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(http) {
      const request: Request = await http.json();
      const fault = faultOf(request);
      if (fault !== null) {
        refused.push(fault);
        return Response.json([{ error: { code: 400, message: fault, status: "INVALID_ARGUMENT" } }], {
          status: 400,
        });
      }
      const isAnswered = request.messages.at(-1)?.role === "tool";
      const message = isAnswered ? { content: "It rains." } : { tool_calls: calls("Oslo") };
      return answered(request, { role: "assistant", ...message }, isAnswered ? "stop" : "tool_calls");
    },
  });
  atEnd(() => server.stop(true));
  return {
    url: `http://127.0.0.1:${server.port}/v1beta/openai`,
    seen,
    refused,
    forget() {
      seen.length = 0;
      refused.length = 0;
    },
  };
}

/** Whole, or as Gemini streams it: each call in one chunk, and the counts in the last one. */
function answered({ model, stream }: Request, message: object, finish_reason: string): Response {
  const head = { id: "gemini", created: 1_790_000_000, model };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason }];
    return Response.json({ ...head, object: "chat.completion", choices, usage });
  }
  const { tool_calls = [], ...rest } = message as { tool_calls?: object[] };
  const deltas = [...tool_calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })), rest];
  const chunks = deltas.map((delta, index) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: index === deltas.length - 1 ? finish_reason : null }],
    ...(index === deltas.length - 1 && { usage }),
  }));
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  return new Response(events.map((data) => `data: ${data}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}
