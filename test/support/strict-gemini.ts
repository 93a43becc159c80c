import type { Content, Part } from "@google/genai";
import type OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { atEnd } from "./at-end.ts";

type Chat = OpenAI.ChatCompletionCreateParams;
const signatureOf = (call: object): unknown =>
  (call as { extra_content?: { google?: { thought_signature?: string } } }).extra_content?.google
    ?.thought_signature;

type Request = { contents: Content[] } & Record<string, unknown>;

/** What Google documents in place of a signature that no one knows (ai.google.dev, "Thought signatures"). */
const UNKNOWN = "skip_thought_signature_validator";

export type StrictGemini = {
  /** As OpenAI's root, without a trailing slash. */
  url: string;
  /** Since `forget`, the signatures of the first calls of all contents of each request. */
  seen: string[][];
  /** Every request since `forget`, refused ones included. */
  requests: Request[];
  /** Why requests were refused since `forget`. */
  refused: string[];
  forget(): void;
};

/**
 * A stand-in for Gemini 3 in its own format: it calls a tool twice at once, signs the first of these calls, and refuses what
 * Google refuses. Once it has results, it answers. Asked to tell its thoughts, it first does so.
 */
export function strictGemini(): StrictGemini {
  const seen: string[][] = [];
  const requests: Request[] = [];
  const refused: string[] = [];
  const signed = new Map<string, string>();
  let made = 0;

  const calls = (name = "weather"): Part[] => {
    made += 1;
    const thoughtSignature = Buffer.from(`signature ${made}`).toString("base64");
    signed.set(`function-call-${made}-0`, thoughtSignature);
    return ["Oslo", "Bergen"].map((city, index) => ({
      functionCall: { id: `function-call-${made}-${index}`, name, args: { city } },
      ...(index === 0 && { thoughtSignature }),
    }));
  };

  /** Google's address in OpenAI's format, which has the signatures in `extra_content`. */
  const compatible = (request: Chat): Response => {
    const { model, messages, stream, tools = [] } = request;
    const called = messages.flatMap((one) =>
      one.role === "assistant" ? (one.tool_calls?.slice(0, 1) ?? []) : [],
    );
    const lost = called.some((call) => ![UNKNOWN, signed.get(call.id)].includes(signatureOf(call) as string));
    if (lost) {
      const message = "Function call is missing a thought_signature in functionCall parts.";
      refused.push(message);
      return Response.json([{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }], { status: 400 });
    }
    const isAnswered = messages.at(-1)?.role === "tool" || tools.length === 0;
    const name = weatherIn(tools);
    const tool_calls = calls().map(({ functionCall: call, thoughtSignature: thought_signature }, index) => ({
      index,
      id: call?.id,
      type: "function",
      function: { name, arguments: JSON.stringify(call?.args) },
      ...(thought_signature && { extra_content: { google: { thought_signature } } }),
    }));
    const said = {
      role: "assistant",
      ...(isAnswered ? { content: "It rains." } : { content: null, tool_calls }),
    };
    const choice = { index: 0, finish_reason: isAnswered ? "stop" : "tool_calls" };
    const head = { id: newId(), model, usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
    if (!stream) return Response.json({ ...head, choices: [{ ...choice, message: said }] });
    const chunk = JSON.stringify({ ...head, choices: [{ ...choice, delta: said }] });
    return new Response(`data: ${chunk}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  };

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(http) {
      const { pathname, searchParams } = new URL(http.url);
      const [, model = "", method] = /^\/v1beta\/models\/([^:/]+):(\w+)$/.exec(pathname) ?? [];
      const request: Request = await http.json();
      requests.push(request);
      if (pathname.endsWith("/chat/completions")) return compatible(request as unknown as Chat);
      const fault =
        method === undefined ? `No method at ${pathname}.` : refusalByGemini(request, { signed, seen });
      if (fault !== null) {
        refused.push(fault);
        return Response.json(
          { error: { code: 400, message: fault, status: "INVALID_ARGUMENT" } },
          { status: 400 },
        );
      }
      const isAnswered =
        request.contents
          .findLast(({ role }) => role === "model")
          ?.parts?.some((part) => part.functionCall) === true || !request["tools"];
      const thinks = JSON.stringify(request).includes('"includeThoughts":true');
      const thoughts = thinks ? [{ text: "Let me see.", thought: true }] : [];
      const parts = isAnswered ? [{ text: "It " }, { text: "rains." }] : calls(weatherIn(request["tools"]));
      return answered([...thoughts, ...parts], { model, streamed: searchParams.get("alt") === "sse" });
    },
  });
  atEnd(() => server.stop(true));
  return {
    url: `http://127.0.0.1:${server.port}/v1beta/openai`,
    seen,
    requests,
    refused,
    forget() {
      for (const list of [seen, requests, refused]) list.length = 0;
    },
  };
}

const MEMBERS = new Set(["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"]);
const PARTS = new Set([
  ...["text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse"],
]);

/** The tool of the weather, whatever its server is called. */
const weatherIn = (tools: unknown): string =>
  /"name":"([\w-]*weather)"/.exec(JSON.stringify(tools))?.[1] ?? "weather";

type Kept = { signed: ReadonlyMap<string, string>; seen: string[][] };

/** Why Google refuses a request; null if it takes it. */
export function refusalByGemini({ contents, ...rest }: Request, { signed, seen }: Kept): string | null {
  const extra = Object.keys(rest).find((name) => !MEMBERS.has(name));
  if (extra !== undefined)
    return `Invalid JSON payload received. Unknown name "${extra}": Cannot find field.`;
  const system = (rest["systemInstruction"] as Content | undefined)?.parts ?? [];
  if ([...system, ...(contents[0]?.parts ?? [])].some(({ text }) => text === ""))
    return "Unable to submit request because it must have a text parameter.";
  if (contents.length === 0) return "GenerateContentRequest.contents: contents is not specified";
  if (/"functionDeclarations":.*"name":"(?![A-Za-z_])/.test(JSON.stringify(rest["tools"] ?? "")))
    return "Invalid function name. Must start with a letter or an underscore.";
  const signatures: string[] = [];
  for (const [index, { role, parts = [] }] of contents.entries()) {
    if (parts.length === 0) return "contents.parts must not be empty.";
    const odd = parts.flatMap(Object.keys).find((name) => !PARTS.has(name));
    if (odd !== undefined)
      return `Invalid JSON payload received. Unknown name "${odd}" at 'contents[${index}].parts'.`;
    if (role !== "user" && role !== "model") return "Please use a valid role: user, model.";
    const called = parts.filter((part) => part.functionCall);
    const results = contents[index + 1]?.parts?.filter((part) => part.functionResponse) ?? [];
    if (called.length > 0 && results.length !== called.length)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    const [first, ...others] = called;
    if (!first) continue;
    if (contents[index - 1]?.role !== "user")
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    const { thoughtSignature: signature } = first;
    if (signature === undefined) return "Function call is missing a thought_signature in functionCall parts.";
    if (signature !== UNKNOWN && signature !== signed.get(first.functionCall?.id ?? ""))
      return "Corrupted thought signature.";
    if (others.some((part) => part.thoughtSignature)) return "Corrupted thought signature.";
    signatures.push(signature);
  }
  if (contents.at(-1)?.role !== "user")
    return "Please ensure that multiturn requests end with a user role or a function response.";
  seen.push(signatures);
  return null;
}

/** Whole, or as Gemini streams it: a part in each chunk, and its counts in all of them. */
function answered(parts: Part[], { model, streamed }: { model: string; streamed: boolean }): Response {
  const responseId = newId();
  const chunkOf = (some: Part[], ended: boolean) => ({
    candidates: [
      { content: { role: "model", parts: some }, index: 0, ...(ended && { finishReason: "STOP" }) },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: model,
    responseId,
  });
  if (!streamed) return Response.json(chunkOf(parts, true));
  const chunks = parts.map((part, index) => chunkOf([part], index === parts.length - 1));
  return new Response(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}
