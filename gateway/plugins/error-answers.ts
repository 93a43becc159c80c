import { Elysia } from "elysia";
import { newId } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { PRIVATE_ANSWER } from "#shared/private-answers.ts";
import { ERRORS, type ErrorType, GatewayError } from "../errors.ts";
import { bedrockError } from "../providers/bedrock-error.ts";
import type { ErrorContext, Wire } from "../providers/wire.ts";
import { WIRES } from "../providers/wires.ts";
import type { WireName } from "../surface-facts.ts";

type Errors = Pick<Wire, "errorBody" | "requestIdHeader">;

const BEDROCK: Errors = {
  errorBody: (type, message) => JSON.stringify(bedrockError(ERRORS[type].status, message)),
  requestIdHeader: "x-amzn-requestid",
};

/** Which error format an address uses; the first match counts. This affects wording only, never access. */
const SHAPES: readonly {
  prefix: string;
  method?: string;
  needsHeader?: string;
  wire: WireName | "bedrock";
}[] = [
  { prefix: "/model/", wire: "bedrock" },
  { prefix: "/v1/messages", wire: "messages" },
  { prefix: "/v1/models", needsHeader: "anthropic-version", wire: "messages" },
  { prefix: "/managed/settings", wire: "messages" },
  { prefix: "/api/oauth/", wire: "messages" },
  { prefix: "/v1/skills", wire: "messages" },
  { prefix: "/upload/", wire: "gemini" },
  { prefix: "/v1/cachedContents", wire: "gemini" },
  { prefix: "/v1/files", needsHeader: "x-goog-api-key", wire: "gemini" },
  { prefix: "/v1/files", needsHeader: "anthropic-version", wire: "messages" },
  { prefix: "/v1beta/", wire: "gemini" },
  { prefix: "/v1alpha/", wire: "gemini" },
  { prefix: "/v1/models/", method: "POST", wire: "gemini" },
  { prefix: "/v1/models", needsHeader: "x-goog-api-key", wire: "gemini" },
  { prefix: "/", wire: "chat" },
];

/** The answer for anything thrown: the surface's own shape and the public sentence, without internal details. */
export function errorAnswer(error: unknown, request: Request): Response {
  const type = error instanceof GatewayError ? error.type : "internal";
  const message = error instanceof GatewayError ? error.message : ERRORS.internal.public;
  const requestId = (error instanceof GatewayError && error.requestId) || newId();
  const details = error instanceof GatewayError ? error.details : null;
  const headers = error instanceof GatewayError ? error.headers : {};
  return shaped(request, { type, message, requestId, details, headers });
}

type Shaped = ErrorContext & { type: ErrorType; message: string; headers: GatewayError["headers"] };

function shaped(request: Request, it: Shaped): Response {
  const facts = ERRORS[it.type];
  const path = pathOf(request);
  const shape = SHAPES.find(
    ({ prefix, method = request.method, needsHeader }) =>
      path.startsWith(prefix) &&
      method === request.method &&
      (!needsHeader || request.headers.has(needsHeader)),
  );
  const name = shape?.wire ?? "chat";
  const wire: Errors = name === "bedrock" ? BEDROCK : WIRES[name];
  const headers = new Headers({
    ...PRIVATE_ANSWER,
    "content-type": "application/json",
    [wire.requestIdHeader]: it.requestId,
  });
  if (facts.final) headers.set("x-should-retry", "false");
  if ("retryAfterSeconds" in facts) headers.set("retry-after", String(facts.retryAfterSeconds));
  for (const [name, value] of Object.entries(it.headers)) headers.set(name, value);
  return new Response(wire.errorBody(it.type, it.message, it), { status: facts.status, headers });
}

function pathOf(request: Request): string {
  try {
    return new URL(request.url).pathname;
  } catch {
    return "/";
  }
}

/** Must be registered first: a hook does not apply to routes registered before it. */
export const errorAnswers = (deps: { log: Log }) =>
  new Elysia({ name: "plugin.error-answers" }).onError({ as: "global" }, ({ error, code, request }) => {
    if (code === "NOT_FOUND") return errorAnswer(new GatewayError("not_found"), request);
    const answer = errorAnswer(error, request);
    if (!(error instanceof GatewayError) || error.type === "internal") {
      deps.log.error({ ...errorFields(error), status: answer.status }, "request failed");
    }
    return answer;
  });
