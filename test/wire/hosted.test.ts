import { beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import { encodeEventStreamFrame } from "@copilotkit/aimock";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let cloud: ScriptedUpstream;
let gateway: WiredGateway;
/** What Bedrock does with a request of a stream. */
let stream: (reply: Reply) => void | Promise<void> = () => undefined;

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const USAGE = {
  input_tokens: 14,
  cache_read_input_tokens: 6,
  cache_creation_input_tokens: 0,
  output_tokens: 33,
};
const MESSAGE = {
  id: "msg_bdrk_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content: [{ type: "text", text: "Hi there" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: USAGE,
};
const EVENTS: object[] = [
  { type: "message_start", message: { ...MESSAGE, content: [], usage: { ...USAGE, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi there" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 33 },
  },
  {
    type: "message_stop",
    "amazon-bedrock-invocationMetrics": { inputTokenCount: 14, outputTokenCount: 33, firstByteLatency: 9 },
  },
];

const framed = (headers: Record<string, string>, payload: object) =>
  encodeEventStreamFrame(headers, Buffer.from(JSON.stringify(payload)));
const chunk = (event: object) =>
  framed(
    { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
    { bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcdef" },
  );
const piece = (reply: Reply, bytes: Uint8Array) => {
  reply.raw(`${bytes.byteLength.toString(16)}\r\n`);
  reply.raw(bytes);
  reply.raw("\r\n");
};
const head = (reply: Reply) =>
  reply.head("application/vnd.amazon.eventstream", 200, { "x-amzn-requestid": "bedrock-call" });

function answer(request: SeenRequest, reply: Reply): void {
  if (request.path === "/token") reply.json({ access_token: "ya29.token", expires_in: 3600 });
  else if (request.path.endsWith("/invoke")) reply.json(MESSAGE, 200, { "x-amzn-requestid": "bedrock-call" });
  else if (request.path.endsWith("/invoke-with-response-stream")) void stream(reply);
  else if (request.path.endsWith(":rawPredict")) reply.json(MESSAGE, 200, { "request-id": "vertex-call" });
  else if (request.path.endsWith(":streamRawPredict")) {
    reply.head("text/event-stream");
    for (const event of EVENTS as { type: string }[]) {
      reply.chunk(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    reply.end();
  } else {
    reply.json({
      choices: [{ message: { role: "assistant", content: "Hi there" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 53 },
    });
  }
}

beforeAll(async () => {
  cloud = await scriptedUpstream((request, reply) => answer(request, reply));
  gateway = await wiredGateway({ chat: `${cloud.url}/v1`, messages: cloud.url });
  const reachable = { allow_private_network: true, enabled: true };
  const account = JSON.stringify({
    client_email: "gateway@p.iam.gserviceaccount.com",
    private_key: privateKey,
    token_uri: `${cloud.url}/token`,
  });
  const project = `${cloud.url}/v1/projects/p/locations/global`;
  for (const [kind, base_url, credential, model] of [
    ["bedrock", cloud.url, ACCESS_KEY, MODEL],
    ["bedrock-openai", cloud.url, "bedrock-api-key", "openai.gpt-oss-120b-1:0"],
    ["vertex", project, account, "claude-sonnet-4-5@20250929"],
    ["vertex-openai", `${project}/endpoints/openapi`, account, "google/gemini-2.5-flash"],
  ] as const) {
    await gateway.admin("PUT", `/providers/${kind}`, { kind, base_url, credential, ...reachable });
    await gateway.admin("PUT", `/routes/${kind}`, { surface: "chat", provider: kind, model });
  }
});

const clients = (session: string) => {
  const shared = { apiKey: gateway.secret, defaultHeaders: { "x-session-id": session }, maxRetries: 0 };
  return {
    anthropic: new Anthropic({ ...shared, baseURL: gateway.url }),
    openai: new OpenAI({ ...shared, baseURL: `${gateway.url}/v1` }),
  };
};
const asked = (model: string) => ({
  model,
  max_tokens: 64,
  messages: [{ role: "user" as const, content: "Hello" }],
});
const ANSWERED = { state: "ok", status: 200, usage_source: "provider", unpriced: false, partial: false };
const FIGURES = { input_tokens: 20, output_tokens: 33 };

test.each([
  ["bedrock", "bedrock-call", MODEL],
  ["vertex", "vertex-call", "claude-sonnet-4-5@20250929"],
])("%s: a message is answered, counted and priced", async (route, id, model) => {
  const session = newId();
  const message = await clients(session).anthropic.messages.create(asked(route));
  expect(message).toMatchObject({ content: MESSAGE.content, _request_id: id });
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ ...ANSWERED, ...FIGURES, model, provider: route, provider_request_id: id });
});

test.each(["bedrock", "vertex"])(
  "%s: a stream is Anthropic's own, and counted to the token",
  async (route) => {
    stream = (reply) => {
      head(reply);
      const bytes = Buffer.concat(EVENTS.map(chunk));
      // Cut where no message ends.
      for (let at = 0; at < bytes.length; at += 101) piece(reply, bytes.subarray(at, at + 101));
      reply.end();
    };
    const session = newId();
    const message = await clients(session).anthropic.messages.stream(asked(route)).finalMessage();
    expect(message.content).toMatchObject(MESSAGE.content);
    expect(message.usage).toMatchObject(USAGE);
    const [row] = await gateway.records(session);
    expect(row).toMatchObject({ ...ANSWERED, ...FIGURES, streamed: true });
    expect(row?.ttft_ms).not.toBeNull();
  },
);

test("bedrock: a client of the chat format gets its own events, with the same counts", async () => {
  const session = newId();
  const completion = await clients(session)
    .openai.chat.completions.stream({ ...asked("bedrock"), stream_options: { include_usage: true } })
    .finalChatCompletion();
  expect(completion.choices[0]?.message.content).toBe("Hi there");
  expect(completion.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 33 });
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ ...ANSWERED, ...FIGURES, provider_request_id: "bedrock-call" });
});

test("bedrock: a stream that is cut within a message has broken off for the client and the record", async () => {
  stream = (reply) => {
    head(reply);
    piece(reply, Buffer.concat(EVENTS.slice(0, 3).map(chunk)));
    piece(reply, chunk(EVENTS[3] ?? {}).subarray(0, 40));
    reply.end();
  };
  const session = newId();
  await expect(clients(session).anthropic.messages.stream(asked("bedrock")).finalMessage()).rejects.toThrow();
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ state: "upstream_broken", input_tokens: 20, partial: true });
});

test("bedrock: an exception within a stream is an error event, in the provider's words", async () => {
  stream = (reply) => {
    head(reply);
    piece(reply, Buffer.concat(EVENTS.slice(0, 3).map(chunk)));
    const headers = { ":exception-type": "throttlingException", ":message-type": "exception" };
    piece(reply, framed(headers, { message: "Too many tokens, please wait" }));
    reply.end();
  };
  const session = newId();
  const call = clients(session).anthropic.messages.stream(asked("bedrock")).finalMessage();
  await expect(call).rejects.toThrow("Too many tokens, please wait");
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ state: "upstream_error", partial: true });
});

test("bedrock: a client that leaves is recorded with the provider's exact figures", async () => {
  const left = Promise.withResolvers<void>();
  stream = async (reply) => {
    head(reply);
    const last = EVENTS.length - 1;
    for (const event of EVENTS.slice(0, last)) piece(reply, chunk(event));
    await left.promise;
    for (const event of EVENTS.slice(last)) piece(reply, chunk(event));
    reply.end();
  };
  const session = newId();
  const call = clients(session).anthropic.messages.stream(asked("bedrock"));
  call.on("text", () => call.abort());
  await expect(call.finalMessage()).rejects.toThrow();
  await gateway.caughtUp();
  left.resolve();
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ state: "client_gone", ...FIGURES, partial: false, unpriced: false });
});

test("the OpenAI endpoints of both get the body as it is, and their credential", async () => {
  const seen = async (route: string) => {
    const session = newId();
    await clients(session).openai.chat.completions.create(asked(route));
    const [row] = await gateway.records(session);
    const { path, headers, body } = cloud.seen.at(-1) ?? {};
    return { row, path, authorization: headers?.["authorization"], model: JSON.parse(body ?? "{}").model };
  };
  const bedrock = await seen("bedrock-openai");
  expect(bedrock).toMatchObject({
    path: "/openai/v1/chat/completions",
    authorization: "Bearer bedrock-api-key",
    model: "openai.gpt-oss-120b-1:0",
  });
  const vertex = await seen("vertex-openai");
  expect(vertex).toMatchObject({
    path: "/v1/projects/p/locations/global/endpoints/openapi/chat/completions",
    authorization: "Bearer ya29.token",
    model: "google/gemini-2.5-flash",
  });
  // Gemini tells its thinking in the total only.
  expect(vertex.row).toMatchObject({ ...ANSWERED, ...FIGURES });
});

test("no credential is in what went out, in a log or in what the admin API shows", async () => {
  const shown = JSON.stringify(await gateway.admin("GET", "/providers"));
  const secrets = [ACCESS_KEY.split(":")[1] ?? "", privateKey.slice(40, 90)];
  for (const secret of secrets) {
    expect(JSON.stringify(cloud.seen)).not.toContain(secret);
    expect(gateway.log()).not.toContain(secret);
    expect(shown).not.toContain(secret);
  }
});
