import { beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { CohereClientV2 } from "cohere-ai";
import OpenAI, { toFile } from "openai";
import { newId } from "#shared/ids.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The vendors' own addresses behind a provider's name (decision 101).

let vendor: ScriptedUpstream;
let gateway: WiredGateway;
/** A key that may pass through, another one, and one that may not. */
let secret: string;
let other: string;

const STORES = ["vs_first", "vs_second"];
const BILLED = { billed_units: { input_tokens: 100, output_tokens: 20 }, tokens: { input_tokens: 500 } };
const CHAT = {
  id: "c-1",
  finish_reason: "COMPLETE",
  message: { role: "assistant", content: [{ type: "text", text: "Hello" }] },
  usage: BILLED,
};
const EVENTS = [
  { type: "message-start", id: "c-2", delta: { message: { role: "assistant" } } },
  { type: "content-delta", index: 0, delta: { message: { content: { text: "Hello" } } } },
  { type: "message-end", delta: { finish_reason: "COMPLETE", usage: BILLED } },
];

const makeKey = async (name: string, body: object): Promise<string> =>
  (await gateway.admin<{ secret: string }>("POST", "/keys", { name, ...body })).secret;

beforeAll(async () => {
  let made = 0;
  vendor = await scriptedUpstream(({ method, path, body }, reply) => {
    const [plain = ""] = path.split("?");
    if (plain === "/v2/chat") {
      if (!JSON.parse(body).stream) return reply.json(CHAT);
      reply.head("text/event-stream");
      for (const event of EVENTS) reply.chunk(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      return reply.end();
    }
    if (plain === "/v2/embed") return reply.json({ id: "e-1", meta: { billed_units: { input_tokens: 7 } } });
    if (plain === "/v1/embeddings")
      return reply.json({ model: "gpt-4o", data: [], usage: { prompt_tokens: 5 } });
    if (plain === "/v1/vector_stores" && method === "GET") {
      return reply.json({ object: "list", data: STORES.map((id) => ({ id, object: "vector_store" })) });
    }
    if (plain === "/v1/vector_stores") return reply.json({ id: STORES[made++], object: "vector_store" });
    if (plain === "/v1/files") return reply.json({ id: "file_made", type: "file" });
    if (plain === "/v1/upload/files") return reply.json({ file: { name: "files/made" } });
    if (plain.endsWith("/broken")) return reply.json({ error: { message: "No." } }, 422);
    return reply.json({ id: plain.split("/").at(-1), object: "vector_store", deleted: true });
  });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/providers/cohere", {
    ...{ kind: "cohere", base_url: `${vendor.url}/compatibility/v1`, credential: VENDOR_CREDENTIAL },
    ...{ allow_private_network: true, pass_through: { paths: ["/v2/*"] } },
  });
  const pass_through = {
    paths: [
      "/v1/vector_stores*",
      "v1/embeddings",
      "/v1/conversations*",
      "/v1/organization*",
      "/v1/realtime/*",
    ],
  };
  await gateway.admin("PATCH", "/providers/chat-vendor", { pass_through });
  const files = { paths: ["/v1/files*", "/v1/upload/*"] };
  await gateway.admin("PATCH", "/providers/messages-vendor", { pass_through: files });
  for (const [model, input, output] of [
    ["command-x", "1", "2"],
    ["gpt-4o", "1", "2"],
  ]) {
    await gateway.admin("POST", "/prices", { model, input, output, effective_from: "2026-01-01T00:00:00Z" });
  }
  const scopes = { providers: ["cohere", "chat-vendor", "messages-vendor"] };
  secret = await makeKey("passes", { scopes });
  other = await makeKey("passes-too", { scopes });
});

const openai = (key: string, session: string) =>
  new OpenAI({
    apiKey: key,
    baseURL: `${gateway.url}/providers/chat-vendor/v1`,
    maxRetries: 0,
    defaultHeaders: { "x-session-id": session },
  });

const call = async (
  path: string,
  { key = secret, session = newId(), ...init }: RequestInit & { key?: string; session?: string } = {},
) => {
  const headers = { authorization: `Bearer ${key}`, "x-session-id": session };
  const answer = await fetch(`${gateway.url}/providers/${path}`, {
    ...init,
    headers: { ...headers, ...init.headers },
  });
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
};
const post = (body: object) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

describe("Cohere's own client", () => {
  const cohere = (session: string) =>
    new CohereClientV2({
      token: secret,
      baseUrl: `${gateway.url}/providers/cohere`,
      maxRetries: 0,
      headers: { "x-session-id": session },
    });
  const messages = [{ role: "user" as const, content: "Hello" }];

  test("chats and embeds, plain and streamed, and what the vendor bills is the cost", async () => {
    const session = newId();
    const answer = await cohere(session).chat({ model: "command-x", messages });
    expect(answer.message?.content?.[0]).toMatchObject({ text: "Hello" });
    const types = [];
    for await (const { type } of await cohere(session).chatStream({ model: "command-x", messages }))
      types.push(type);
    expect(types).toEqual(["message-start", "content-delta", "message-end"]);
    await cohere(session).embed({
      model: "command-x",
      texts: ["Hello"],
      inputType: "search_query",
      embeddingTypes: ["float"],
    });
    const records = await gateway.records(session, 3);
    expect(
      records.map(({ input_tokens, output_tokens, cost_usd, streamed, state }) => ({
        input_tokens,
        output_tokens,
        cost_usd: Number(cost_usd),
        streamed,
        state,
      })),
    ).toEqual([
      { input_tokens: 100, output_tokens: 20, cost_usd: 0.00014, streamed: false, state: "ok" },
      { input_tokens: 100, output_tokens: 20, cost_usd: 0.00014, streamed: true, state: "ok" },
      { input_tokens: 7, output_tokens: 0, cost_usd: 0.000007, streamed: false, state: "ok" },
    ]);
    expect(vendor.seen.at(-1)).toMatchObject({
      path: "/v2/embed",
      headers: { authorization: `Bearer ${VENDOR_CREDENTIAL}` },
    });
  });
});

test("a file that Anthropic's client or Google's uploads belongs to its key in model calls, too", async () => {
  const baseURL = `${gateway.url}/providers/messages-vendor`;
  const client = new Anthropic({ apiKey: secret, baseURL, maxRetries: 0 });
  const { id } = await client.beta.files.upload({ file: await toFile(Buffer.from("a"), "a.txt") });
  await call("messages-vendor/v1/upload/files", post({}));
  for (const part of [
    { type: "document", source: { type: "file", file_id: id } },
    { fileData: { fileUri: "https://google.example/v1beta/files/made" } },
  ]) {
    const body = { model: "chat", messages: [{ role: "user", content: [part] }] };
    const asks = (key: string) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        ...post(body),
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      });
    expect([(await asks(other)).status, (await asks(secret)).status]).toEqual([404, 200]);
  }
});

describe("OpenAI's vector stores", () => {
  test("belong to the key that made them, and each call is one unpriced record", async () => {
    const session = newId();
    const mine = await openai(secret, session).vectorStores.create({ name: "mine" });
    expect(mine.id).toBe("vs_first");
    await gateway.records(session);
    const theirs = newId();
    expect((await openai(other, theirs).vectorStores.create({})).id).toBe("vs_second");
    await gateway.records(theirs);
    const asked = newId();
    expect(
      await openai(other, asked)
        .vectorStores.retrieve(mine.id)
        .catch(({ status }) => status),
    ).toBe(404);
    const file = { file_id: "file-1", attributes: { store: mine.id } };
    expect(
      (await call("chat-vendor/v1/vector_stores/vs_second/files", { key: other, ...post(file) })).status,
    ).toBe(404);
    // A model call that names it.
    const search = {
      model: "gpt-4o",
      input: "Hello",
      tools: [{ type: "file_search", vector_store_ids: [mine.id] }],
    };
    const native = await fetch(`${gateway.url}/v1/responses`, {
      ...post(search),
      headers: { authorization: `Bearer ${other}`, "content-type": "application/json" },
    });
    expect(native.status).toBe(404);
    // The account's list, without what others made.
    expect((await openai(secret, asked).vectorStores.list()).data.map(({ id }) => id)).toEqual(["vs_first"]);
    expect((await openai(secret, asked).vectorStores.delete(mine.id)).deleted).toBe(true);
    expect(vendor.seen.at(-1)).toMatchObject({
      method: "DELETE",
      path: "/v1/vector_stores/vs_first",
      body: "",
    });
    const records = await gateway.records(asked, 2);
    expect(records).toMatchObject([
      { state: "ok", cost_usd: null, unpriced: true, provider: "chat-vendor", route: "(direct)" },
      { state: "ok", cost_usd: null, unpriced: true },
    ]);
  });

  test("a vendor's error passes unchanged and is recorded", async () => {
    const session = newId();
    const { status, body, headers } = await call("chat-vendor/v1/vector_stores/broken?limit=2&key=x", {
      session,
    });
    expect([status, body]).toEqual([422, { error: { message: "No." } }]);
    expect(vendor.seen.at(-1)?.path).toBe("/v1/vector_stores/broken?limit=2");
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ state: "upstream_error", status: 422, error_type: "upstream_422" });
    expect(headers.get("x-gateway-request-id")).toBeTruthy();
  });

  test("an address that the gateway has itself is metered as there", async () => {
    const session = newId();
    await openai(secret, session).embeddings.create({
      model: "gpt-4o",
      input: "Hello",
      encoding_format: "float",
    });
    expect(await gateway.records(session)).toMatchObject([
      { input_tokens: 5, model: "gpt-4o", unpriced: false },
    ]);
  });
});

describe("is refused", () => {
  test.each([
    ["no provider in the key's scope", "chat-vendor/v1/vector_stores", () => gateway.secret, 403],
    ["a path that no glob opens", "chat-vendor/v1/videos", () => secret, 403],
    ["a provider without globs", "messages-vendor/v1/skills", () => secret, 403],
    [
      "the vendor's administration, whatever the globs",
      "chat-vendor/v1/organization/users",
      () => secret,
      403,
    ],
    ["administration in other spelling", "chat-vendor/v1/vector_stores/%55sers", () => secret, 403],
    ["credentials past the gateway", "chat-vendor/v1/realtime/client_secrets", () => secret, 403],
    ["an encoded slash", "chat-vendor/v1/vector_stores%2f..%2forganization", () => secret, 400],
    ["an encoded dot segment", "chat-vendor/v1/vector_stores/%2e%2e/organization", () => secret, 403],
  ])("%s", async (_, path, key, status) => {
    const before = vendor.seen.length;
    const answer = await fetch(`${gateway.url}/providers/${path}`, {
      headers: { authorization: `Bearer ${key()}` },
    });
    expect(answer.status).toBe(status);
    expect(vendor.seen).toHaveLength(before);
  });

  test("a key with models but for a body that names one of them", async () => {
    const key = await makeKey("scoped", {
      scopes: { providers: ["cohere", "chat-vendor"], models: ["command-x"] },
    });
    const messages = [{ role: "user", content: "Hello" }];
    expect((await call("chat-vendor/v1/vector_stores", { key })).status).toBe(403);
    expect((await call("cohere/v2/chat", { key, ...post({ model: "command-y", messages }) })).status).toBe(
      403,
    );
    expect((await call("cohere/v2/chat", { key, ...post({ messages }) })).status).toBe(403);
    expect((await call("cohere/v2/chat", { key, ...post({ model: "command-x", messages }) })).status).toBe(
      200,
    );
    const routes = await makeKey("routed", { scopes: { providers: ["cohere"], routes: ["chat"] } });
    expect(
      (await call("cohere/v2/chat", { key: routes, ...post({ model: "command-x", messages }) })).status,
    ).toBe(403);
  });

  test("under a hard budget, what has no price; a priced call is served", async () => {
    const scopes = { providers: ["cohere", "chat-vendor"] };
    const key = await makeKey("budgeted", { scopes, limits: { budget_usd: "5" } });
    const refused = await call("chat-vendor/v1/vector_stores", { key, ...post({ model: "gpt-4o" }) });
    expect([refused.status, refused.body.error.code]).toEqual([403, "unpriced_model"]);
    const messages = [{ role: "user", content: "Hello" }];
    expect((await call("cohere/v2/chat", { key, ...post({ model: "command-x", messages }) })).status).toBe(
      200,
    );
    const open = await makeKey("open", { scopes, limits: { budget_usd: "5", unpriced: "allow" } });
    expect((await call("chat-vendor/v1/vector_stores", { key: open })).status).toBe(200);
  });

  test("a WebSocket, in a sentence", async () => {
    const seen = vendor.seen.length;
    const answer = await fetch(`${gateway.url}/providers/chat-vendor/v1/realtime/x`, {
      headers: {
        ...{ authorization: `Bearer ${secret}`, connection: "Upgrade", upgrade: "websocket" },
        ...{ "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
      },
    });
    expect([answer.status, (await answer.json()).error.message]).toEqual([
      400,
      expect.stringContaining("WebSocket"),
    ]);
    expect(vendor.seen.length).toBe(seen);
  });

  test("a key under an enforced guardrail", async () => {
    const key = await makeKey("guarded", { scopes: { providers: ["chat-vendor"] } });
    const rule = { match: { keys: ["guarded"], pattern: "secret" }, action: "soft_deny" };
    await gateway.admin("PUT", "/guardrails/no-secrets", { ...rule, mode: "observe" });
    expect((await call("chat-vendor/v1/vector_stores", { key })).status).toBe(200);
    await gateway.admin("PUT", "/guardrails/no-secrets", { ...rule, mode: "enforce" });
    const session = newId();
    expect((await call("chat-vendor/v1/vector_stores", { key, session })).status).toBe(403);
    expect((await gateway.records(session))[0]).toMatchObject({
      state: "denied",
      error_type: "guardrail_blocked",
    });
    expect((await call("chat-vendor/v1/vector_stores")).status).toBe(200);
  });
});
