import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// What vendors keep for prompts, by their own clients: it belongs to the key that made it.

type Seen = { method: string; path: string; type: string; body: string; credential: string | null };
type Kept = { id: string; content: string };

let seen: Seen[] = [];
const kept = new Map<string, Kept>();
let made = 0;

const shapes = {
  openai: ({ id }: Kept) => ({
    id,
    object: "file",
    purpose: "user_data",
    filename: "a.pdf",
    bytes: 5,
    created_at: 1,
  }),
  anthropic: ({ id }: Kept) => ({
    id,
    type: "file",
    filename: "a.txt",
    mime_type: "text/plain",
    size_bytes: 2,
    created_at: "2026-01-01T00:00:00Z",
  }),
  skill: ({ id }: Kept) => ({
    id,
    type: "skill",
    source: "custom",
    display_title: "S",
    created_at: "",
    updated_at: "",
    latest_version: "1",
  }),
  google: ({ id }: Kept) => ({
    name: id,
    uri: `https://generativelanguage.googleapis.com/v1beta/${id}`,
    mimeType: "text/plain",
    state: "ACTIVE",
  }),
  cache: ({ id }: Kept) => ({
    name: id,
    model: "models/gemini-3-pro",
    usageMetadata: { totalTokenCount: 5000 },
  }),
};
const keep = (prefix: string, content: string): Kept => {
  made += 1;
  const it = { id: `${prefix}${made}abc`, content };
  kept.set(it.id, it);
  return it;
};

const vendor = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname: path, search, searchParams } = new URL(request.url);
    // Google's SDK calls the first version.
    const isGoogles = request.headers.has("x-goog-api-key");
    const pathname = isGoogles ? path.replace("/v1/", "/v1beta/") : path;
    const { method, headers } = request;
    const body = await request.text();
    const credential =
      headers.get("x-goog-api-key") ?? headers.get("x-api-key") ?? headers.get("authorization");
    seen.push({ method, path: pathname + search, type: headers.get("content-type") ?? "", body, credential });
    const isAnthropics = headers.has("anthropic-version");
    if (pathname === "/upload/v1beta/files") {
      if (searchParams.has("upload_id")) {
        const file = shapes.google(keep("files/f", body));
        return Response.json({ file }, { headers: { "x-goog-upload-status": "final" } });
      }
      const url =
        "https://generativelanguage.googleapis.com/upload/v1beta/files?upload_id=u1&upload_protocol=resumable";
      return new Response(null, { headers: { "x-goog-upload-url": url, "x-goog-upload-status": "active" } });
    }
    if (method === "POST" && pathname === "/v1/files") {
      return Response.json(
        isAnthropics ? shapes.anthropic(keep("file_", body)) : shapes.openai(keep("file-", body)),
      );
    }
    if (method === "POST" && pathname === "/v1/skills")
      return Response.json(shapes.skill(keep("skill_", body)));
    if (method === "POST" && pathname === "/v1beta/cachedContents")
      return Response.json(shapes.cache(keep("cachedContents/c", body)));
    if (method === "POST")
      return Response.json({
        id: "m",
        type: "message",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    const all = (prefix: string) => [...kept.values()].filter(({ id }) => id.startsWith(prefix));
    if (pathname === "/v1/files")
      return Response.json({ data: all("file_").map(shapes.anthropic), has_more: false });
    if (pathname === "/v1/skills/pptx/versions")
      return Response.json({ data: [{ id: "skillver_1", type: "skill_version", skill_id: "pptx" }] });
    if (pathname === "/v1/skills") {
      const pptx = { ...shapes.skill({ id: "pptx", content: "" }), source: "anthropic" };
      return Response.json({ data: [pptx, ...all("skill_").map(shapes.skill)], has_more: false });
    }
    if (pathname === "/v1beta/files") return Response.json({ files: all("files/").map(shapes.google) });
    const id = /([^/]+\/)?[^/]+$/.exec(pathname.replace("/content", ""))?.[0] ?? "";
    const found = kept.get(id) ?? kept.get(id.split("/").at(-1) ?? "");
    if (!found) return Response.json({ error: { message: "not found" } }, { status: 404 });
    if (pathname.endsWith("/content"))
      return new Response("data", { headers: { "content-type": "text/plain" } });
    if (method === "DELETE") kept.delete(found.id);
    if (id.startsWith("cachedContents/")) return Response.json(shapes.cache(found));
    if (pathname.startsWith("/v1beta/files/")) return Response.json(shapes.google(found));
    return Response.json(
      found.id.startsWith("skill")
        ? shapes.skill(found)
        : isAnthropics
          ? shapes.anthropic(found)
          : shapes.openai(found),
    );
  },
});
afterAll(() => vendor.stop(true));

let gateway: WiredGateway;
let others: string;
const root = `http://127.0.0.1:${vendor.port}`;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: `${root}/v1`, messages: root });
  await gateway.admin("PUT", "/providers/google", {
    ...{ kind: "gemini", base_url: `${root}/v1beta/openai`, credential: VENDOR_CREDENTIAL },
    ...{ allow_private_network: true, models: ["gemini-*"] },
  });
  others = (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "others" })).secret;
});
beforeEach(() => {
  seen = [];
});

const statusOf = (asked: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(asked).then(
    () => 200,
    ({ status }) => status,
  );

describe("OpenAI's files", () => {
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

  test("for prompts pass unread, with the purpose before or behind the file, and are the key's own", async () => {
    const file = new File(["%PDF-"], "a.pdf");
    const first = await client(gateway.secret).files.create({ file, purpose: "user_data" });
    const second = await client(gateway.secret).files.create({ purpose: "vision", file });
    expect(seen.map(({ body }) => body.includes("%PDF-"))).toEqual([true, true]);
    const { data } = await client(gateway.secret).files.list();
    expect(data.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
    expect((await client(others).files.list()).data).toEqual([]);
    expect(await (await client(gateway.secret).files.content(first.id)).text()).toBe("data");
    expect(await statusOf(client(others).files.retrieve(first.id))).toBe(404);
    const ask = (key: string) =>
      client(key).responses.create({
        model: "gpt-4o",
        input: [{ role: "user", content: [{ type: "input_file", file_id: first.id }] }],
      });
    expect(await statusOf(ask(others))).toBe(404);
    expect(await statusOf(ask(gateway.secret))).toBe(200);
    await client(gateway.secret).files.delete(first.id);
    expect(kept.has(first.id)).toBe(false);
  });

  test.each([["an unknown", "fine-tune"] as const, ["no", undefined] as const])(
    "of %s purpose are refused in words",
    async (_, purpose) => {
      const file = new File(["x"], "a.jsonl");
      const asked = client(gateway.secret).files.create({ file, purpose } as OpenAI.FileCreateParams);
      expect(await asked.catch(String)).toContain("`purpose` must be `batch`, `user_data`");
    },
  );

  test("under an enforced guardrail are refused, because no rule can read them", async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "guarded" });
    await gateway.admin("PUT", "/guardrails/words", {
      match: { keys: ["guarded"], pattern: "x" },
      mode: "enforce",
    });
    const file = new File(["x"], "a.txt");
    expect(await statusOf(client(secret).files.create({ file, purpose: "user_data" }))).toBe(403);
    expect(seen).toEqual([]);
  });
});

describe("Anthropic's files and skills", () => {
  const client = (apiKey: string) => new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });

  test("are the key's own: files", async () => {
    const own = client(gateway.secret).beta.files;
    const file = await own.upload({ file: await toFile(Buffer.from("hi"), "a.txt", { type: "text/plain" }) });
    expect(file.id).toStartWith("file_");
    expect(seen.at(-1)).toMatchObject({
      path: expect.stringContaining("/v1/files"),
      credential: VENDOR_CREDENTIAL,
    });
    const theirs = await client(others).beta.files.upload({ file: await toFile(Buffer.from("ho"), "b.txt") });
    expect((await own.list()).data.map(({ id }) => id)).toEqual([file.id]);
    expect((await own.retrieveMetadata(file.id)).id).toBe(file.id);
    expect(await (await own.download(file.id)).text()).toBe("data");
    expect(await statusOf(own.retrieveMetadata(theirs.id))).toBe(404);
    expect(await statusOf(own.delete(theirs.id))).toBe(404);
    const ask = (key: string) =>
      client(key).beta.messages.create({
        model: "claude-opus-4-6",
        max_tokens: 9,
        messages: [
          { role: "user", content: [{ type: "document", source: { type: "file", file_id: file.id } }] },
        ],
        betas: ["files-api-2025-04-14"],
      });
    expect(await statusOf(ask(others))).toBe(404);
    expect(await statusOf(ask(gateway.secret))).toBe(200);
    // One that the vendor's tools made is not known here, and passes.
    kept.set("file_made_by_code", { id: "file_made_by_code", content: "" });
    expect(await (await own.download("file_made_by_code")).text()).toBe("data");
    // OpenAI's list has no files of Anthropic's.
    const openai = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1` });
    expect((await openai.files.list()).data.map(({ id }) => id)).not.toContain(file.id);
  });

  test("are the key's own: skills, beside those of the vendor", async () => {
    const own = client(gateway.secret).beta.skills;
    const skill = await own.create({ files: [await toFile(Buffer.from("# S"), "s/SKILL.md")] });
    await client(others).beta.skills.create({ files: [await toFile(Buffer.from("# T"), "t/SKILL.md")] });
    expect((await own.list()).data.map(({ id }) => id)).toEqual(["pptx", skill.id]);
    expect((await own.versions.list("pptx")).data.map(({ id }) => id)).toEqual(["skillver_1"]);
    expect(await statusOf(client(others).beta.skills.retrieve(skill.id))).toBe(404);
    const ask = (key: string) =>
      client(key).beta.messages.create({
        model: "claude-opus-4-6",
        max_tokens: 9,
        messages: [{ role: "user", content: "Hello" }],
        container: { skills: [{ type: "custom", skill_id: skill.id, version: "latest" }] },
      });
    expect(await statusOf(ask(others))).toBe(404);
    await own.delete(skill.id);
    expect(kept.has(skill.id)).toBe(false);
  });
});

describe("Google's files and cached prompts", () => {
  const client = (apiKey: string, session = newId()) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, headers: { "x-session-id": session } } });

  test("are uploaded through the gateway and are the key's own", async () => {
    const own = client(gateway.secret);
    const file = await own.files.upload({
      file: new Blob(["hello bytes"]),
      config: { mimeType: "text/plain" },
    });
    expect(file.name).toStartWith("files/f");
    expect(seen.map(({ credential }) => credential)).toEqual([VENDOR_CREDENTIAL, VENDOR_CREDENTIAL]);
    expect(seen.at(-1)?.body).toBe("hello bytes");
    await client(others).files.upload({ file: new Blob(["others"]), config: { mimeType: "text/plain" } });
    const names = [];
    for await (const { name } of await own.files.list()) names.push(name);
    expect(names).toEqual([file.name]);
    expect(await statusOf(client(others).files.get({ name: file.name ?? "" }))).toBe(404);
    const contents = [
      { role: "user", parts: [{ fileData: { fileUri: file.uri ?? "", mimeType: "text/plain" } }] },
    ];
    expect(await statusOf(client(others).models.generateContent({ model: "gemini-3-pro", contents }))).toBe(
      404,
    );
  });

  test("a cached prompt is one record, unpriced, and the key's own", async () => {
    const session = newId();
    const own = client(gateway.secret, session);
    const cache = await own.caches.create({
      model: "gemini-3-pro",
      config: { contents: [{ role: "user", parts: [{ text: "Long." }] }], ttl: "3600s" },
    });
    expect(await gateway.records(session)).toMatchObject([
      { provider: "google", model: "gemini-3-pro", cost_usd: null, unpriced: true },
    ]);
    expect((await own.caches.get({ name: cache.name ?? "" })).name).toBe(cache.name);
    expect(await statusOf(client(others).caches.get({ name: cache.name ?? "" }))).toBe(404);
    const config = { cachedContent: cache.name ?? "" };
    const ask = client(others).models.generateContent({ model: "gemini-3-pro", contents: "Hello", config });
    expect(await statusOf(ask)).toBe(404);
  });
});
