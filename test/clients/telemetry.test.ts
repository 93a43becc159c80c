import { afterAll, beforeAll, expect, test } from "bun:test";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The gateway's own spans and metrics, as a collector gets them.

const PROMPT = "a text that is nobody else's business";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

type Value = { stringValue?: string; intValue?: number; boolValue?: boolean };
type Attribute = { key: string; value: Value };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code?: number };
  attributes: Attribute[];
};

let vendor: LLMock;
let door: ReturnType<typeof Bun.serve>;
let collector: ReturnType<typeof Bun.serve>;
let gateway: WiredGateway;
let passed: Record<string, string>[] = [];
const exports: { path: string; credential: string | null; text: string }[] = [];

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  vendor.on({}, { content: "Yes.", usage: { prompt_tokens: 11, completion_tokens: 3 } });
  door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      passed.push(request.headers.toJSON());
      return fetch(vendor.url + new URL(request.url).pathname, request);
    },
  });
  collector = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname: path } = new URL(request.url);
      exports.push({ path, credential: request.headers.get("x-credential"), text: await request.text() });
      return Response.json({});
    },
  });
  const url = `http://127.0.0.1:${door.port}`;
  gateway = await wiredGateway(
    { chat: `${url}/v1`, messages: url },
    {
      TELEMETRY_ENDPOINT: `http://127.0.0.1:${collector.port}/`,
      TELEMETRY_HEADERS: "x-credential=of-the-collector",
      TELEMETRY_SERVICE_NAME: "gateway-of-the-suite",
    },
  );
});

afterAll(async () => {
  await door.stop(true);
  await collector.stop(true);
  await vendor.stop();
});

const spans = (): Span[] =>
  exports
    .filter(({ path }) => path === "/v1/traces")
    .flatMap(({ text }) => JSON.parse(text).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans: some }) => some);

const factOf = (span: Span | undefined, name: string) => {
  const value = span?.attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue ?? value?.boolValue;
};

async function call(model: string, headers: Record<string, string> = {}): Promise<Span> {
  passed = [];
  const session = newId();
  const client = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  await client.chat.completions
    .create(
      { model, messages: [{ role: "user", content: PROMPT }] },
      { headers: { ...headers, "x-session-id": session } },
    )
    .catch(() => undefined);
  const own = () => spans().find((span) => factOf(span, "gen_ai.conversation.id") === session);
  await until(() => own() !== undefined);
  const span = own();
  if (span === undefined) throw new Error("no span");
  return span;
}

test("a call continues its caller's trace, and the provider gets its span as the parent", async () => {
  const span = await call("gpt-4o", { traceparent: `00-${TRACE}-${CALLER}-01` });
  expect(span).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, name: "chat gpt-4o" });
  expect(passed.map(({ traceparent }) => traceparent)).toEqual([`00-${TRACE}-${span.spanId}-01`]);
});

test("a call that leaves no record ends its span, too", async () => {
  const traceId = "1".repeat(32);
  await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: { "x-api-key": gateway.secret, traceparent: `00-${traceId}-${CALLER}-01` },
    body: JSON.stringify({ model: "claude-opus-4-6", messages: [{ role: "user", content: PROMPT }] }),
  });
  await until(() => spans().some((span) => span.traceId === traceId));
  expect(spans().find((span) => span.traceId === traceId)?.name).toBe(
    "messages.count_tokens claude-opus-4-6",
  );
});

test("a span has the record's facts, its cost to the last digit, and no text", async () => {
  const span = await call("gpt-4o");
  const id = factOf(span, "tallygate.request_id");
  const record = await gateway.admin<{ cost_usd: string }>("GET", `/requests/${id}`);
  expect(
    [
      "gen_ai.operation.name",
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.output_tokens",
      "tallygate.state",
    ].map((name) => factOf(span, name)),
  ).toEqual(["chat", 11, 3, "ok"]);
  expect(factOf(span, "tallygate.cost_usd")).toBe(record.cost_usd);
  expect(JSON.stringify(exports)).not.toContain(PROMPT);
  expect(JSON.stringify(exports)).not.toContain(gateway.secret);
});

test("a call that fails has a span with its error", async () => {
  await gateway.admin("PATCH", "/providers/chat-vendor", {
    base_url: "http://127.0.0.1:9/v1",
    credential: "of-the-suite",
  });
  const span = await call("gpt-4o");
  expect([span.status.code, factOf(span, "error.type")]).toEqual([2, "refused"]);
});

test("a stop exports what is left, with the collector's own headers", async () => {
  await gateway.stop();
  const metrics = exports.filter(({ path }) => path === "/v1/metrics").map(({ text }) => text);
  expect(metrics.join("")).toContain("gen_ai.client.token.usage");
  expect(metrics.join("")).toContain("gateway-of-the-suite");
  // The boundaries that OpenTelemetry's conventions for generative AI advise: with the library's own, most calls share a bucket.
  const bounds = [...metrics.join("").matchAll(/"explicitBounds":(\[[^\]]*\])/g)].map(([, text = ""]) =>
    JSON.parse(text),
  );
  expect(bounds).toContainEqual([
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
  ]);
  expect(bounds).toContainEqual([
    1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
  ]);
  expect([...new Set(exports.map(({ credential }) => credential))]).toEqual(["of-the-collector"]);
});
