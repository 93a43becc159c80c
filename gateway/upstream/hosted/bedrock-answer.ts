import { PROVIDER_TIMEOUTS } from "#shared/admin/providers.ts";
import type { Meter } from "../../metering/meter.ts";
import { objectOf } from "../../providers/provider-json.ts";
import type { StreamReader } from "../../reading.ts";
import { ProviderFailure } from "../failures.ts";
import { type BinaryMessage, frameSplitter } from "./event-stream.ts";

/** Bedrock sends no pings, but clients of the messages format treat a long silence as a dead connection. */
const PING_MS = 15_000;
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/** Bedrock's stream exceptions in the messages format's terms; any other is an `api_error`. */
const ERROR_TYPES: Readonly<Record<string, string>> = {
  throttlingException: "rate_limit_error",
  validationException: "invalid_request_error",
  serviceUnavailableException: "overloaded_error",
  modelTimeoutException: "timeout_error",
};

/** Bedrock's answer in Anthropic's form: `request-id`, and events as SSE. Other bodies pass unchanged. */
export function bedrockAnswer(answer: Response, silenceMs: number): Response {
  const headers = new Headers(answer.headers);
  const id = headers.get("x-amzn-requestid");
  if (id !== null) headers.set("request-id", id);
  const binary = headers.get("content-type")?.startsWith("application/vnd.amazon.eventstream") ?? false;
  if (binary) headers.set("content-type", "text/event-stream; charset=utf-8");
  const body = binary && answer.body ? eventsOf(answer.body, { silenceMs }) : answer.body;
  return new Response(body, { status: answer.status, headers });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Events as they arrive, with the gateway's pings in between. After `silenceMs` the provider has broken off. */
export function eventsOf(
  body: ReadableStream<Uint8Array>,
  { pingMs = PING_MS, silenceMs = PROVIDER_TIMEOUTS.idleSeconds * 1000 } = {},
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const splitter = frameSplitter();
  const read = patientRead(reader, pingMs);
  let silentMs = 0;
  /** Text of the next part; may be empty; null at the end. */
  const next = async (): Promise<string | null> => {
    const part = await read();
    silentMs = part === null ? silentMs + pingMs : 0;
    if (silentMs >= silenceMs) throw new ProviderFailure("timeout_idle");
    if (part === null) return PING;
    if (!part.done) return splitter.push(part.value).map(jsonIn).map(event).join("");
    if (splitter.partial()) throw new Error("the provider's answer ended early");
    return null;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          // A pull must enqueue something or end the stream.
          let text = await next();
          while (text === "") text = await next();
          if (text === null) controller.close();
          else controller.enqueue(encoder.encode(text));
        } catch (cause) {
          await reader.cancel().catch(() => undefined);
          throw cause;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Reads the next part, or returns null if none arrives within `ms`; the pending read is kept for the next call. */
function patientRead(reader: Reader, ms: number) {
  let pendingRead: ReturnType<Reader["read"]> | null = null;
  return async () => {
    pendingRead ??= reader.read();
    // Between two calls nothing awaits it, and an unhandled rejection would end the process.
    pendingRead.catch(() => undefined);
    const silence = Promise.withResolvers<null>();
    const timer = setTimeout(() => silence.resolve(null), ms);
    const part = await Promise.race([pendingRead, silence.promise]).finally(() => clearTimeout(timer));
    if (part !== null) pendingRead = null;
    return part;
  };
}

/** A message's JSON: that of a chunk, of an exception as Anthropic's error, of any other event as it is. */
function jsonIn({ headers, payload }: BinaryMessage): string {
  const text = decoder.decode(payload);
  if (headers.get(":message-type") !== "event") return errorOf(headers.get(":exception-type") ?? "", text);
  const bytes = objectOf(JSON.parse(text))?.["bytes"];
  return typeof bytes === "string" ? Buffer.from(bytes, "base64").toString() : text;
}

function errorOf(exception: string, text: string): string {
  const message = objectOf(JSON.parse(text === "" ? "{}" : text))?.["message"];
  const type = ERROR_TYPES[exception] ?? "api_error";
  return JSON.stringify({
    type: "error",
    error: { type, message: typeof message === "string" ? message : exception },
  });
}

/** A message's JSON as an event of its type, if it has one, on one line: a line break would end the data. */
function event(json: string): string {
  const value = objectOf(JSON.parse(json));
  if (value?.["type"] === undefined) return "";
  const line = /[\r\n]/.test(json) ? JSON.stringify(value) : json;
  return `event: ${String(value["type"])}\ndata: ${line}\n\n`;
}

/** The meter of a stream in AWS's binary form, whose bytes all pass unchanged. */
export function framesMeter(reader: StreamReader): Meter {
  const splitter = frameSplitter();
  let isDamaged = false;
  return {
    watch(chunk) {
      try {
        const frames = isDamaged ? [] : splitter.push(chunk);
        for (const frame of frames) reader.event(Buffer.from(jsonIn(frame)));
      } catch {
        isDamaged = true;
      }
      return chunk;
    },
    rest: () => null,
    contentSeen: () => reader.progress.contentSeen,
    terminalSeen: () => reader.progress.terminalSeen,
    allSeen: () => false,
    reading: (complete) => reader.reading(complete),
  };
}
