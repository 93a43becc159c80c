import { Elysia } from "elysia";
import { GatewayError, refuse } from "../errors.ts";
import { routingLookups } from "../exchange.ts";
import { isEventType } from "../http/content-type.ts";
import { cachedHeaders } from "../http/headers.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { splice } from "../http/splice.ts";
import { sseMapped } from "../metering/sse.ts";
import { type Caller, keyed } from "../plugins/client-key.ts";
import { bedrockError } from "../providers/bedrock-error.ts";
import { destinationOn } from "../routing/served-model.ts";
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
import { modelDocs } from "./model-docs.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";

/** A model that would answer, and whether it is on Bedrock. */
type Named = { model: string | null; isThere: boolean };

/** Answers of `/model/{id}/…`, each in a form for plain answers and one for streams. */
type Form = {
  /** The surface of bodies that pass as they came. */
  own: "invoke" | "converse";
  streamed: boolean;
  /** Whether a body passes as it came. @throws GatewayError invalid_request */
  passes(body: Uint8Array, models: readonly Named[]): boolean;
  /** The call in the messages format, and the betas that its body names. */
  read(body: Uint8Array, model: string): { bytes: Uint8Array; betas: string | null };
  /** A whole answer; absent: as it came. */
  whole?(message: Json, latencyMs: number): Json;
  /** The events of a stream, for each of Anthropic's. */
  stream(latencyMs: () => number): (event: Json) => (readonly [type: string, payload: Json])[];
};

const invoke = { own: "invoke", passes: isAnotherVendors, read: invoked, stream: chunks } as const;
const converse = {
  own: "converse",
  passes: areOthers,
  read: conversed,
  whole: converseAnswer,
  stream: converseStream,
} as const;

const FORMS = {
  invoke: { ...invoke, streamed: false },
  "invoke-with-response-stream": { ...invoke, streamed: true },
  converse: { ...converse, streamed: false },
  "converse-stream": { ...converse, streamed: true },
} as const satisfies Record<string, Form>;

/**
 * `POST /model/{id}/…`: Bedrock's own addresses, for its SDKs with an API key; `{id}` is a route or a model. Anthropic's bodies and
 * conversations are read into the messages format and run as such, so that any provider can answer them. To other vendors' models
 * on Bedrock, bodies pass as they came.
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
        { clientKey: true, parse: "none", detail: { ...modelDocs(form.own), summary: `Bedrock's ${name}` } },
      ),
    );
  }
  return all;
}

type Asked = { form: Form; request: Request; caller: Caller; model: string };

async function answered(deps: SurfaceDeps, { form, request, caller, model }: Asked): Promise<Response> {
  const beganMs = deps.clock.monotonicMs();
  const latencyMs = () => Math.round(deps.clock.monotonicMs() - beganMs);
  const headers = cachedHeaders(new Headers(caller.headers.toJSON()));
  let passes = false;
  const answer = await serve(deps, {
    surface: "messages",
    caller: { ...caller, headers },
    request,
    named: { model, streamed: form.streamed },
    read(body) {
      passes = form.passes(body, targetsOf(deps, { form, caller, model }));
      if (passes) return { surface: form.own, bytes: body };
      const { bytes, betas } = form.read(body, model);
      if (betas !== null) headers.toJSON()["anthropic-beta"] = betas;
      const add = form.streamed ? { stream: true } : {};
      return { surface: "messages", bytes: splice(scanJson(bytes), { add }) };
    },
  });
  return passes ? answer : await inForm(answer, form, latencyMs);
}

/** Where the model runs, as far as its name says it. */
function targetsOf(deps: SurfaceDeps, { form, caller, model }: Pick<Asked, "form" | "caller" | "model">) {
  const { prices, directory } = deps;
  const request = { directory: directory.current(), key: caller.key, model };
  const found = destinationOn(form.own, { ...request, knowledge: routingLookups(prices(), deps) });
  return (found?.targets ?? []).map((it) => ({ model: it.model, isThere: it.provider.kind === "bedrock" }));
}

/** Claude models' conversations are read, so that other providers can answer them, too. */
function areOthers(_: Uint8Array, models: readonly Named[]): boolean {
  return (
    models.length > 0 &&
    models.every(({ model, isThere }) => isThere && !/claude|anthropic/.test(model ?? ""))
  );
}

function isAnotherVendors(bytes: Uint8Array, models: readonly Named[]): boolean {
  if (memberValue(scanJson(bytes), "anthropic_version") !== undefined) return false;
  if (models.length === 0 || models.some(({ isThere }) => isThere)) return true;
  refuse(
    "`anthropic_version` is missing: only models on Bedrock take another vendor's body. Use `converse` for any model.",
  );
}

/** Anthropic's body without what Bedrock moves out of it. */
function invoked(bytes: Uint8Array): ReturnType<Form["read"]> {
  const body = scanJson(bytes);
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
