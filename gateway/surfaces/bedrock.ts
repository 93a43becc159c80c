import { Elysia } from "elysia";
import { GatewayError } from "../errors.ts";
import { isEventType } from "../http/content-type.ts";
import { cachedHeaders } from "../http/headers.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { splice } from "../http/splice.ts";
import { sseMapped } from "../metering/sse.ts";
import { type Caller, keyed } from "../plugins/client-key.ts";
import { bedrockError } from "../providers/bedrock-error.ts";
import {
  converseAnswer,
  converseStream,
  converseUsage,
  withCountsOf,
} from "../translate/converse/answer-out.ts";
import { betasIn, messagesOfConverse } from "../translate/converse/request-in.ts";
import { type Json, jsonBytes, objectInBytes, objectMember, textIn } from "../translate/exact-json.ts";
import { frameOfEvent } from "../upstream/hosted/event-stream.ts";
import { bytesUpTo } from "../upstream/whole-body.ts";
import { jsonBody } from "./model-docs.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";

/** Answers of `/model/{id}/…`, each in a form for plain answers and one for streams. */
type Form = {
  streamed: boolean;
  /** The call in the messages format, and the betas that its body names. */
  read(body: Uint8Array, model: string): { bytes: Uint8Array; betas: string | null };
  /** A whole answer; absent: as it came. */
  whole?(message: Json, latencyMs: number): Json;
  /** The events of a stream, for each of Anthropic's. */
  stream(latencyMs: () => number): (event: Json) => (readonly [type: string, payload: Json])[];
};

const invoke = { read: invoked, stream: chunks };
const converse = { read: conversed, whole: converseAnswer, stream: converseStream };

const FORMS = {
  invoke: { ...invoke, streamed: false },
  "invoke-with-response-stream": { ...invoke, streamed: true },
  converse: { ...converse, streamed: false },
  "converse-stream": { ...converse, streamed: true },
} as const satisfies Record<string, Form>;

/**
 * `POST /model/{id}/…`: Bedrock's own addresses, for its SDKs with an API key. Calls are read into the messages format
 * and run as such, so that any provider can answer them; `{id}` is a route or a model.
 */
export function bedrock(deps: SurfaceDeps) {
  const all = new Elysia({ name: "surface.bedrock" });
  for (const [name, form] of Object.entries(FORMS)) {
    const address = `/model/:model/${name}`;
    all.use(
      keyed(deps, address).post(
        address,
        ({ request, caller, params }: { request: Request; caller: Caller; params: { model?: string } }) =>
          answered(deps, { form, request, caller, model: params.model ?? "" }),
        { clientKey: true, parse: "none", detail: docs(name) },
      ),
    );
  }
  return all;
}

const docs = (name: string) => ({
  summary: `Bedrock's ${name}`,
  description:
    "For Bedrock's SDKs with a client key as the API key. Read into the messages format; `model` is a route's name, `auto`, or a concrete model.",
  tags: ["Model surfaces"],
  security: [{ clientKey: [] }],
  responses: {
    "200": { description: "In Bedrock's form; a stream is AWS's binary event stream." },
    "400": { description: "The body is wrong, or has a member without a counterpart." },
    "401": { description: "No valid client key." },
  },
  requestBody: {
    required: true,
    content: jsonBody(
      name.startsWith("converse")
        ? { messages: [{ role: "user", content: [{ text: "Hello" }] }] }
        : {
            anthropic_version: "bedrock-2023-05-31",
            max_tokens: 256,
            messages: [{ role: "user", content: "Hello" }],
          },
    ),
  },
});

type Asked = { form: Form; request: Request; caller: Caller; model: string };

async function answered(deps: SurfaceDeps, { form, request, caller, model }: Asked): Promise<Response> {
  const beganMs = deps.clock.monotonicMs();
  const latencyMs = () => Math.round(deps.clock.monotonicMs() - beganMs);
  const headers = cachedHeaders(new Headers(caller.headers.toJSON()));
  const answer = await serve(deps, {
    surface: "messages",
    caller: { ...caller, headers },
    request,
    named: { model },
    bodyOf(body) {
      const { bytes, betas } = form.read(body, model);
      if (betas !== null) headers.toJSON()["anthropic-beta"] = betas;
      return splice(scanJson(bytes), { add: form.streamed ? { stream: true } : {} });
    },
  });
  return await inForm(answer, form, latencyMs);
}

/** Anthropic's body without what Bedrock moves out of it. @throws GatewayError invalid_request for other vendors' bodies */
function invoked(bytes: Uint8Array): ReturnType<Form["read"]> {
  const body = scanJson(bytes);
  if (memberValue(body, "anthropic_version") === undefined) {
    throw new GatewayError(
      "invalid_request",
      "`anthropic_version` is missing: `invoke` takes Anthropic's body. Use `converse` for models of other vendors, or `/providers/{name}` as the endpoint for their own bodies.",
    );
  }
  const remove = ["anthropic_version", "anthropic_beta", "model", "stream"];
  const betas = betasIn({ anthropic_beta: memberValue(body, "anthropic_beta") });
  return { bytes: splice(body, { remove }), betas };
}

function conversed(bytes: Uint8Array, model: string): ReturnType<Form["read"]> {
  scanJson(bytes);
  const request = objectInBytes(bytes) ?? {};
  const betas = betasIn(request["additionalModelRequestFields"]);
  return { bytes: jsonBytes(messagesOfConverse(request, model)), betas };
}

/** Each of Anthropic's events as a chunk of `invoke-with-response-stream`, the last with the counts of tokens. */
function chunks(latencyMs: () => number): ReturnType<Form["stream"]> {
  let usage: Json = {};
  let firstMs: number | null = null;
  return (event) => {
    if (event["type"] === "ping") return [];
    firstMs ??= latencyMs();
    usage = withCountsOf(event, usage);
    const { inputTokens, outputTokens, ...cache } = converseUsage(usage);
    const metrics = {
      inputTokenCount: inputTokens,
      outputTokenCount: outputTokens,
      invocationLatency: latencyMs(),
      firstByteLatency: firstMs,
      cacheReadInputTokenCount: cache.cacheReadInputTokens,
      cacheWriteInputTokenCount: cache.cacheWriteInputTokens,
    };
    const isLast = event["type"] === "message_stop";
    const whole = isLast ? { ...event, "amazon-bedrock-invocationMetrics": metrics } : event;
    return [["chunk", { bytes: Buffer.from(jsonBytes(whole)).toString("base64") }]];
  };
}

/** Anthropic's types of errors inside a stream, as Bedrock's exceptions. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  rate_limit_error: "throttlingException",
  invalid_request_error: "validationException",
  overloaded_error: "serviceUnavailableException",
};

/** As much as other answers that are held whole. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

async function inForm(answer: Response, form: Form, latencyMs: () => number): Promise<Response> {
  const headers = new Headers(answer.headers);
  const id = headers.get("request-id") ?? headers.get("x-gateway-request-id");
  if (id !== null) headers.set("x-amzn-requestid", id);
  const { status } = answer;
  if (answer.ok && answer.body && isEventType(headers.get("content-type"))) {
    headers.set("content-type", "application/vnd.amazon.eventstream");
    headers.set("x-amzn-bedrock-content-type", "application/json");
    return new Response(answer.body.pipeThrough(framed(form.stream(latencyMs))), { status, headers });
  }
  if (answer.ok && !form.whole) return new Response(answer.body, { status, headers });
  const bytes = await bytesUpTo(answer, ANSWER_BYTES_MAX, () => new GatewayError("upstream_broken"));
  const json = objectInBytes(bytes) ?? {};
  const shown = answer.ok ? (form.whole?.(json, latencyMs()) ?? json) : bedrockError(status, messageOf(json));
  return new Response(jsonBytes(shown), { status, headers });
}

const messageOf = (body: Json): string =>
  textIn(objectMember(body, "error"), "message") ?? "The provider refused.";

/** A stream of the messages format as AWS's binary event stream. An error inside it ends it as an exception. */
function framed(translated: ReturnType<Form["stream"]>): TransformStream<Uint8Array, Uint8Array> {
  const framesOf = (data: Uint8Array): Uint8Array[] => {
    const event = objectInBytes(data);
    if (event === null) return [];
    if (event["type"] === "error") {
      const type =
        EXCEPTIONS[textIn(objectMember(event, "error"), "type") ?? ""] ?? "internalServerException";
      const head = { ":message-type": "exception", ":exception-type": type };
      return [frameOfEvent({ ...head, ...JSON_TYPE }, jsonBytes({ message: messageOf(event) }))];
    }
    return translated(event).map(([type, payload]) =>
      frameOfEvent({ ":event-type": type, ...JSON_TYPE, ":message-type": "event" }, jsonBytes(payload)),
    );
  };
  return sseMapped(framesOf);
}

const JSON_TYPE = { ":content-type": "application/json" };
