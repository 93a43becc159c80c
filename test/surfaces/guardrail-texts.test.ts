import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { type FoldingVendor, foldingVendor } from "#test/support/folding-vendor.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

/** A blocked word must not reach the provider, wherever a client puts it. */
const SECRET = "projectfalcon";
const BASE64 = Buffer.from(SECRET).toString("base64");

let vendor: FoldingVendor;
let gateway: WiredGateway;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  vendor = foldingVendor();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/guardrails/words", { match: { pattern: SECRET }, message: "Not this." });
  await gateway.admin("PUT", "/guardrails/models", { match: { models: ["gpt-barred"] } });
  openai = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ authToken: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
});
beforeEach(() => {
  vendor.ran.length = 0;
  vendor.read.length = 0;
});

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => ({ status: 200 }),
    ({ status, error }) => ({ status, type: error?.error?.type ?? error?.type }),
  );
const BLOCKED = { status: 403, type: "guardrail_blocked" };
const file = (size: number, name = "a.png") => new File([new Uint8Array(size)], name, { type: "image/png" });

/** What the official clients can send. */
const CALLS: Record<string, () => Promise<unknown>> = {
  "an edit's prompt after its image": () =>
    openai.images.edit({ image: file(10), prompt: `a ${SECRET}`, model: "gpt-image" }),
  "an edit's prompt after a large image": () =>
    openai.images.edit({ image: file(3_000_000), prompt: `a ${SECRET}`, model: "gpt-image" }),
  "an edit's prompt between two images": () =>
    openai.images.edit({
      image: [file(10), file(300_000)],
      prompt: SECRET,
      mask: file(10),
      model: "gpt-image",
    }),
  "a transcription's prompt after its file": () =>
    openai.audio.transcriptions.create({
      file: file(100_000, "a.mp3"),
      model: "gpt-4o-transcribe",
      prompt: SECRET,
    }),
  "a transcription's prompt before its file": () =>
    openai.audio.transcriptions.create({
      model: "gpt-4o-transcribe",
      prompt: SECRET,
      file: file(10, "a.mp3"),
    }),
  ...Object.fromEntries(
    ["data", "url", "type", "role", "file_data", "image_url", "b64_json"].flatMap((name) => [
      [
        `a chat's tool argument called ${name}`,
        () =>
          openai.chat.completions.create({
            model: "gpt-4o",
            messages: [
              {
                role: "assistant",
                tool_calls: [
                  {
                    id: "1",
                    type: "function",
                    function: { name: "f", arguments: JSON.stringify({ [name]: SECRET }) },
                  },
                ],
              },
            ],
          }),
      ],
      [
        `a message's tool argument called ${name}`,
        () =>
          anthropic.messages.create({
            model: "claude-opus-4-6",
            max_tokens: 9,
            messages: [
              {
                role: "assistant",
                content: [{ type: "tool_use", id: "1", name: "f", input: { [name]: SECRET } }],
              },
            ],
          }),
      ],
    ]),
  ),
  "a document of one word": () =>
    anthropic.messages.create({
      model: "claude-opus-4-6",
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [{ type: "document", source: { type: "text", media_type: "text/plain", data: SECRET } }],
        },
      ],
    }),
  "a text file in a response's input": () =>
    openai.responses.create({
      model: "gpt-4o",
      input: [
        {
          role: "user",
          content: [{ type: "input_file", filename: "a.txt", file_data: `data:text/plain;base64,${BASE64}` }],
        },
      ],
    }),
  "a tool's result of one word": () =>
    openai.responses.create({
      model: "gpt-4o",
      input: [{ type: "function_call_output", call_id: "1", output: SECRET }],
    }),
};

describe("a rule over texts blocks", () => {
  test.each(Object.keys(CALLS))("%s", async (name) => {
    expect(await refusal(CALLS[name]?.() ?? Promise.resolve())).toEqual(BLOCKED);
    expect([vendor.ran, vendor.read]).toEqual([[], []]);
  });
});

test("a text given as token ids, as some embeddings clients do, is refused and the answer asks for text", async () => {
  const asIds = openai.embeddings.create({ model: "text-embedding-3-small", input: [[464, 4168]] });
  const refused = await asIds.catch((error) => error);
  expect(refused).toMatchObject({ status: 403, error: { type: "guardrail_blocked" } });
  expect(refused.message).toContain("Send it as text.");
  expect([vendor.ran, vendor.read]).toEqual([[], []]);
});

type Part = readonly [name: string, content: string, more?: string];

async function postForm(parts: readonly Part[], session = newId()) {
  const body = parts
    .map(
      ([name, content, more = ""]) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`,
    )
    .join("");
  const answer = await fetch(`${gateway.url}/v1/images/edits`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      "content-type": "multipart/form-data; boundary=b",
      "x-session-id": session,
    },
    body: `${body}--b--\r\n`,
  });
  return { status: answer.status, text: await answer.text() };
}

const MODEL: Part = ["model", "gpt-image"];
const IMAGE: Part = ["image", "x".repeat(200_000), '; filename="a.png"'];

describe("a form", () => {
  test.each([
    ["a prompt dressed as a file", [MODEL, ["prompt", SECRET, '; filename="p.txt"'], IMAGE], 400],
    ["a prompt dressed as a file after the image", [MODEL, IMAGE, ["prompt", SECRET, '; filename="p"']], 400],
    [
      "a file in another field than those for media",
      [MODEL, ["style", SECRET, '; filename="s.txt"'], IMAGE],
      403,
    ],
    ["a field that comes twice", [MODEL, ["style[]", SECRET], ["style[]", "plain"], IMAGE], 403],
    ["a field with the name of a property", [MODEL, ["toString", SECRET], IMAGE], 403],
    ["a late field that comes twice", [MODEL, IMAGE, ["style[]", "plain"], ["style[]", SECRET]], 403],
    [
      "a text that is too long to be read",
      [MODEL, IMAGE, ["style", `${"x ".repeat(600_000)}${SECRET}`]],
      413,
    ],
    ["a long text before the image", [MODEL, ["style", `${"x ".repeat(600_000)}${SECRET}`], IMAGE], 413],
    ["a model that is barred, after the image", [IMAGE, ["model", "gpt-barred"]], 403],
  ] as [string, Part[], number][])(
    "with %s is refused and never whole at the provider",
    async (_, parts, status) => {
      expect((await postForm(parts)).status).toBe(status);
      expect(vendor.ran).toEqual([]);
    },
  );

  test("whose late text is blocked leaves a record that names the rule", async () => {
    const session = newId();
    const { status, text } = await postForm([MODEL, IMAGE, ["prompt", SECRET]], session);
    expect([status, JSON.parse(text).error.message]).toEqual([403, "Not this."]);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({
      state: "denied",
      error_type: "guardrail_blocked",
      guardrail: "words",
      cost_usd: "0",
    });
  });

  test("with other texts passes, whatever the order", async () => {
    expect((await postForm([IMAGE, ["prompt", "a hat"], MODEL])).status).toBe(200);
    expect((await postForm([MODEL, ["prompt", "a hat"], IMAGE, ["user", "ada"]])).status).toBe(200);
    expect(vendor.read).toContain("a hat");
  });
});

test("a message whose content comes twice is refused", async () => {
  const body = `{"model":"gpt-4o","messages":[{"role":"user","content":"${SECRET}","content":"hi"}]}`;
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}` },
    body,
  });
  expect([answer.status, vendor.ran]).toEqual([400, []]);
});

test("media of known types are no text", async () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: SECRET } } as const;
  await anthropic.messages.create({
    model: "claude-opus-4-6",
    max_tokens: 9,
    messages: [{ role: "user", content: [image] }],
  });
  expect(vendor.ran).toEqual(["claude-opus-4-6"]);
});
