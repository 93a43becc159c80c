import { Elysia } from "elysia";
import { newId } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { inflated, isGzip } from "../agent-metrics/inflate.ts";
import { createReceiver, type ReceiveDeps } from "../agent-metrics/receive.ts";
import type { ClientKey, Directory } from "../directory.ts";
import { ERRORS, type ErrorType, GatewayError } from "../errors.ts";
import { type BodyBudget, holding } from "../http/body-budget.ts";
import { readBytes } from "../plugins/body.ts";
import { authenticate, type CallerCheck } from "../plugins/client-key.ts";
import { requireMetricsScope } from "../routing/scope.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";
import { documented, jsonBody } from "./documented.ts";

export type OtelDeps = ReceiveDeps &
  RequestBodyDeps & {
    callers: CallerCheck;
    bodyBudget: BodyBudget;
    directory: { current(): Pick<Directory, "settings"> };
    /** Largest export, after decompression as before. */
    bytesMax: { otlp: number };
    log: Log;
  };

const DETAIL = documented("Receive an OTLP/JSON metrics export", {
  tag: "Metrics receiver",
  description:
    "Delta temporality only; the client key goes in x-gateway-key. gzip is accepted. Logs and traces are always 404.",
  by: ["gatewayKey"],
  body: jsonBody({ resourceMetrics: [] }),
  answers: {
    200: "Stored; `partialSuccess` names what was refused.",
    400: "The body is not an OTLP/JSON export.",
    401: "No valid client key in x-gateway-key.",
    403: "The key's scopes allow no model.",
    404: "The receiver is switched off.",
    413: "The export is too large.",
    415: "The export is not OTLP/JSON, or its compression is not gzip.",
    503: "Nothing can be stored at the moment.",
  },
});

/** OTLP/JSON metrics of agents that call providers directly; every other signal is refused, its body unread. */
export const otel = (deps: OtelDeps) => {
  const receive = createReceiver(deps);
  return new Elysia({ name: "surface.otel" })
    .post(
      "/otel/v1/metrics",
      ({ request }) => answered(deps, async () => json(await serve(deps, receive, request))),
      { parse: "none", detail: DETAIL },
    )
    .all("/otel/*", () => answered(deps, refuse), { parse: "none", detail: { hide: true } });
};

/** Without a charset: collectors compare the header exactly and otherwise ignore partial success. */
const JSON_TYPE = { "content-type": "application/json" };

const json = (value: unknown): Response => Response.json(value, { headers: JSON_TYPE });

/** The contract sets the order of the checks: after a failure, later checks do not run. */
async function serve(deps: OtelDeps, receive: ReturnType<typeof createReceiver>, request: Request) {
  if (!deps.directory.current().settings.metrics_receiver) {
    throw new GatewayError("not_found", "The metrics receiver is switched off.");
  }
  const key = await keyOf(deps.callers, request);
  requireMetricsScope(key);
  requireJson(request.headers);
  const encoding = request.headers.get("content-encoding");
  isGzip(encoding);
  const { otlp: bytesMax } = deps.bytesMax;
  return holding(deps.bodyBudget, async (hold) => {
    const bytes = await inflated(await readBytes(deps, request, { bytesMax, hold }), encoding, bytesMax);
    return { partialSuccess: await receive(key, bytes) };
  });
}

/** Only `x-gateway-key` counts here: the other two headers are the exporter's own. */
async function keyOf(callers: CallerCheck, request: Request): Promise<ClientKey> {
  const presented = request.headers.get("x-gateway-key")?.trim();
  if (presented) {
    const { key } = await authenticate(callers, request, new Headers({ "x-gateway-key": presented })).catch(
      onlyHere,
    );
    return key;
  }
  return onlyHere(new GatewayError("unauthenticated"));
}

function onlyHere(error: unknown): never {
  if (error instanceof GatewayError && error.type === "unauthenticated") {
    throw new GatewayError("unauthenticated", "No valid client key in x-gateway-key.");
  }
  throw error;
}

function requireJson(headers: Headers): void {
  const [type = ""] = (headers.get("content-type") ?? "").split(";", 1);
  if (type.trim().toLowerCase() === "application/json") return;
  throw new GatewayError(
    "unsupported_media_type",
    "The receiver accepts OTLP/JSON only. Use http/json, or a collector.",
  );
}

const refuse = async (): Promise<never> => {
  throw new GatewayError("not_found", "Only metrics are accepted, at POST /otel/v1/metrics.");
};

/** The answer, or the failure as a Status. Exporters never send again after a 500, so whatever failed here is a 503. */
async function answered(deps: Pick<OtelDeps, "log">, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    const known = error instanceof GatewayError && error.type !== "internal";
    const told = known ? error : new GatewayError("store_unavailable");
    const cause = error instanceof GatewayError ? error.cause : error;
    if (cause !== undefined)
      deps.log.warn({ ...errorFields(cause), type: told.type }, "an export was not stored");
    return statusAnswer(told);
  }
}

/** Exporters allow ten seconds for an export with all retries, and give up if asked to wait longer. */
const RETRY_AFTER_SECONDS = 2;

function statusAnswer({ type, message, headers: own }: GatewayError): Response {
  const facts = ERRORS[type];
  const headers = new Headers({ ...JSON_TYPE, "x-request-id": newId(), ...own });
  if (facts.final) headers.set("x-should-retry", "false");
  if ("retryAfterSeconds" in facts) headers.set("retry-after", String(RETRY_AFTER_SECONDS));
  return Response.json(statusBody(type, message), { status: facts.status, headers });
}

/** HTTP status to google.rpc.Code. */
const RPC_CODES: Readonly<Record<number, number>> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  403: 7, // PERMISSION_DENIED
  404: 12, // UNIMPLEMENTED
  408: 4, // DEADLINE_EXCEEDED
  413: 8, // RESOURCE_EXHAUSTED
  415: 3,
  429: 8,
  502: 14, // UNAVAILABLE
  503: 14,
};
const UNKNOWN = 2;

/** A google.rpc.Status, OTLP's error body. */
const statusBody = (type: ErrorType, message: string): { code: number; message: string } => ({
  code: RPC_CODES[ERRORS[type].status] ?? UNKNOWN,
  message,
});
