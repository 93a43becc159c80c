import { googleStatus } from "../google-format.ts";
import { isJson, type Json, objectMember, objectsIn, textIn } from "./exact-json.ts";
import type { ProviderError } from "./reply.ts";

/** Anthropic's name and OpenAI's type and code for the same fault, by HTTP status. */
type Fault = { status: number; anthropic: string; openai: string; code: string | null };

const SERVER_FAULT: Fault = {
  status: 500,
  anthropic: "api_error",
  openai: "server_error",
  code: "server_error",
};

/** Of several with one name, the first is meant. */
const FAULTS: readonly Fault[] = [
  SERVER_FAULT,
  { status: 400, anthropic: "invalid_request_error", openai: "invalid_request_error", code: null },
  { status: 401, anthropic: "authentication_error", openai: "authentication_error", code: "invalid_api_key" },
  { status: 402, anthropic: "billing_error", openai: "insufficient_quota", code: "insufficient_quota" },
  { status: 403, anthropic: "permission_error", openai: "permission_error", code: null },
  { status: 404, anthropic: "not_found_error", openai: "invalid_request_error", code: "model_not_found" },
  { status: 413, anthropic: "request_too_large", openai: "invalid_request_error", code: "request_too_large" },
  { status: 429, anthropic: "rate_limit_error", openai: "rate_limit_error", code: "rate_limit_exceeded" },
  { status: 504, anthropic: "timeout_error", openai: "server_error", code: "timeout" },
  { status: 529, anthropic: "overloaded_error", openai: "server_error", code: "overloaded" },
  { status: 503, anthropic: "overloaded_error", openai: "server_error", code: "overloaded" },
];

const CLIENT_FAULT: Fault = {
  status: 400,
  anthropic: "invalid_request_error",
  openai: "invalid_request_error",
  code: null,
};

const byStatus = (status: number): Fault =>
  FAULTS.find((fault) => fault.status === status) ?? (status >= 500 ? SERVER_FAULT : CLIENT_FAULT);

/** By what the provider calls it, in either vocabulary: inside a stream there is no status. */
const byName = (type: string): Fault =>
  FAULTS.find(({ anthropic, openai, code }) => [anthropic, code, openai].includes(type)) ?? SERVER_FAULT;

const NO_MESSAGE = "The provider reported an error.";

/** The error in a provider's body or event. OpenAI's code is more specific than its type. */
export function readProviderError(body: Json | null): ProviderError {
  const error = body?.["error"];
  if (typeof error === "string") return { type: "api_error", message: error };
  const object = isJson(error) ? error : body;
  // Google's, and OpenRouter's inside an answer with a good status, is a status of HTTP.
  const status = object?.["code"];
  if (typeof status === "number" && status >= 400) {
    return { type: byStatus(status).anthropic, message: messageIn(object) };
  }
  const code = textIn(object, "code");
  const known = code !== null && FAULTS.some((fault) => fault.code === code);
  return {
    type: known ? code : (textIn(object, "type") ?? "api_error"),
    message: messageIn(object),
  };
}

/** The sentence; OpenRouter has its provider's own beside it, and servers that check members name each (`detail`, `errors`). */
function messageIn(object: Json | null): string {
  // Mistral's, if members are wrong.
  const inner = objectMember(object, "message");
  if (inner) return messageIn(inner);
  const said = textIn(object, "message");
  const raw = textIn(objectMember(object, "metadata"), "raw");
  if (said !== null) return raw ? `${said}: ${raw}` : said;
  const faults = [...objectsIn(object, "detail"), ...objectsIn(object, "errors")].map((fault) => {
    const { loc } = fault;
    const place = Array.isArray(loc) ? `${loc.join(".")}: ` : "";
    return place + (textIn(fault, "msg") ?? textIn(fault, "message") ?? "");
  });
  return textIn(object, "detail") ?? (faults.join("; ") || NO_MESSAGE);
}

export type ClientWire = "chat" | "messages" | "responses" | "gemini";

/** The error as each format shapes it in a body. */
const SHAPES: Readonly<
  Record<ClientWire, (fault: Fault, message: string, requestId: string | null) => object>
> = {
  chat: openAiShape,
  responses: openAiShape,
  messages: ({ anthropic }, message, requestId) => ({
    type: "error",
    error: { type: anthropic, message },
    ...(requestId === null ? {} : { request_id: requestId }),
  }),
  gemini: ({ status }, message) => ({ error: { code: status, message, status: googleStatus(status) } }),
};

function openAiShape({ openai, code }: Fault, message: string): object {
  return { error: { message, type: openai, param: null, code } };
}

/** A provider's refusal as the client's format shapes it: its status decides what it is called, its sentence stays. */
export function clientErrorBody(
  wire: ClientWire,
  it: { status: number; body: Json | null; requestId: string | null },
): object {
  const { message } = readProviderError(it.body);
  return SHAPES[wire](byStatus(it.status), message, it.requestId);
}

/** An error in place of an answer with a good status, as OpenRouter sends it: its own status and sentence; null if it is a normal answer. */
export function faultInAnswer(
  wire: ClientWire,
  body: Json | null,
  read: ProviderError | null,
): { status: number; body: object } | null {
  const error = read ?? (body?.["error"] ? readProviderError(body) : null);
  if (!error) return null;
  const { type, message } = error;
  const fault = byName(type);
  return { status: fault.status, body: SHAPES[wire](fault, message, null) };
}

/** An error inside a stream, as the client's format shapes it. */
export const streamError = (wire: ClientWire, { type, message }: ProviderError): object =>
  SHAPES[wire](byName(type), message, null);

/** OpenAI's word for an error inside a stream. */
export const errorCode = ({ type }: ProviderError): string => byName(type).code ?? byName(type).openai;
