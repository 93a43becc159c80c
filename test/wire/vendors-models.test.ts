import { beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { newId } from "#shared/ids.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let play: (reply: Reply, request: SeenRequest) => void = () => undefined;

beforeAll(async () => {
  upstream = await scriptedUpstream((request, reply) => play(reply, request));
  // These two exist at their vendors' own hosts, where nothing can be reached from here.
  const env = { XAI_API_KEY: "xai-key-of-the-suite", GEMINI_API_KEY: "gemini-key-of-the-suite" };
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url }, env);
});

const openai = (secret = gateway.secret, headers: Record<string, string> = {}) =>
  new OpenAI({ apiKey: secret, baseURL: `${gateway.url}/v1`, maxRetries: 0, defaultHeaders: headers });
const anthropic = () => new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
const refused = (call: Promise<unknown>) =>
  call.then(
    () => null,
    ({ status, message }) => ({ status, message }),
  );
const messages = [{ role: "user" as const, content: "Hello" }];

describe("a model that nobody has heard of", () => {
  test("goes to the provider at its vendor's own host, as (direct) and unpriced", async () => {
    const session = newId();
    const client = openai(gateway.secret, { "x-session-id": session });
    const answer = await refused(client.chat.completions.create({ model: "grok-99-mega", messages }));
    expect(answer?.status).toBe(502);
    const [row] = await gateway.records(session);
    expect(row).toMatchObject({ route: "(direct)", provider: "xai", model: "grok-99-mega" });
    const model = await client.models.retrieve("grok-99-mega");
    expect(model).toEqual({ id: "grok-99-mega", object: "model", created: 0, owned_by: "xai" });
  });

  test("but whose vendor has no provider is 404, and the message names the setting", async () => {
    const answer = await refused(openai().chat.completions.create({ model: "sonar-99", messages }));
    expect(answer?.status).toBe(404);
    expect(answer?.message).toContain("`models`");
    expect((await refused(openai().models.retrieve("sonar-99")))?.status).toBe(404);
  });

  test("is never sent to an address that only speaks the vendor's format", async () => {
    // chat-vendor is of the kind openai, at another host; it serves gpt-* because its list says so.
    const seen = upstream.seen.length;
    expect((await refused(openai().chat.completions.create({ model: "o9-sol", messages })))?.status).toBe(
      404,
    );
    expect(upstream.seen.length).toBe(seen);
  });

  test("is not open to a key whose scopes lack it", async () => {
    const key = { name: newId(), scopes: { models: ["gpt-4o"] } };
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", key);
    const answer = await refused(openai(secret).chat.completions.create({ model: "grok-99-mega", messages }));
    expect(answer?.status).toBe(403);
    expect((await refused(openai(secret).models.retrieve("grok-99-mega")))?.status).toBe(404);
    expect((await openai(secret).models.retrieve("gpt-4o")).owned_by).toBe("chat-vendor");
  });
});

test("GET /v1/models/{model} answers for the model that a route serves, in both vendors' forms", async () => {
  expect(await openai().models.retrieve("chat")).toMatchObject({ id: "chat", owned_by: "chat-vendor" });
  expect(await openai().models.retrieve("gpt-4o")).toMatchObject({ id: "gpt-4o", owned_by: "chat-vendor" });
  expect(await anthropic().models.retrieve("claude-opus-4-6")).toMatchObject({
    type: "model",
    id: "claude-opus-4-6",
    created_at: "1970-01-01T00:00:00.000Z",
  });
});

describe("beside a second provider of OpenAI's format, the samples of OpenAI's own documentation work:", () => {
  const image = () => toFile(new Uint8Array(50), "a.png", { type: "image/png" });

  beforeAll(async () => {
    await gateway.admin("PUT", "/providers/second", {
      kind: "openai-compatible",
      base_url: `${upstream.url}/second`,
      allow_private_network: true,
    });
  });

  test("moderations without a model", async () => {
    play = (reply) => reply.json({ id: "m", model: "omni", results: [{ flagged: false }] });
    await openai().moderations.create({ input: "Hello" });
    expect(upstream.seen.at(-1)?.path).toBe("/v1/moderations");
  });

  test("transcriptions, variations and edits with the file first", async () => {
    play = (reply, { path }) =>
      reply.json(path.includes("audio") ? { text: "hi" } : { created: 1, data: [{}] });
    const file = await toFile(new Uint8Array(50), "a.mp3", { type: "audio/mpeg" });
    await openai().audio.transcriptions.create({ file, model: "whisper-1" });
    expect(upstream.seen.at(-1)?.path).toBe("/v1/audio/transcriptions");
    await openai().images.createVariation({ image: await image() });
    expect(upstream.seen.at(-1)?.path).toBe("/v1/images/variations");
    await openai().images.edit({ image: await image(), prompt: "By night", model: "gpt-image-1" });
    expect(upstream.seen.at(-1)?.path).toBe("/v1/images/edits");
  });

  test("another provider can be the default of a surface", async () => {
    await gateway.admin("PATCH", "/providers/second", { default_for: ["moderations"] });
    play = (reply) => reply.json({ id: "m", model: "omni", results: [] });
    await openai().moderations.create({ input: "Hello" });
    expect(upstream.seen.at(-1)?.path).toBe("/second/moderations");
    await expect(gateway.admin("PATCH", "/providers/second", { default_for: ["messages"] })).rejects.toThrow(
      "400",
    );
    await gateway.admin("PATCH", "/providers/second", { default_for: [] });
  });

  test("a kind that has no moderations is never asked for them", async () => {
    await gateway.admin("PUT", "/providers/groq", {
      kind: "groq",
      base_url: `${upstream.url}/groq`,
      allow_private_network: true,
      credential: "groq-key-of-the-suite",
    });
    await gateway.admin("PATCH", "/providers/chat-vendor", { enabled: false });
    await openai().moderations.create({ input: "Hello" });
    expect(upstream.seen.at(-1)?.path).toBe("/second/moderations");
    await gateway.admin("PATCH", "/providers/chat-vendor", { enabled: true });
  });
});
