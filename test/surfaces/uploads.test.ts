import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { until } from "#test/support/until.ts";
import { type UploadUpstream, uploadUpstream } from "#test/support/upload-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const IMAGES = JSON.stringify({ created: 1, data: [{ b64_json: "iVBORw0K" }, { b64_json: "iVBORw0K" }] });
const TOKENS = JSON.stringify({
  text: "hello",
  usage: {
    type: "tokens",
    input_tokens: 30,
    input_token_details: { audio_tokens: 25, text_tokens: 5 },
    output_tokens: 7,
    total_tokens: 37,
  },
});
const DURATION = JSON.stringify({
  text: "hello",
  duration: 77123.5,
  usage: { type: "duration", seconds: 77123 },
});

const EVENTS = `data: ${JSON.stringify({ type: "transcript.text.delta", delta: "hel" })}\n\ndata: ${JSON.stringify({ type: "transcript.text.done", text: "hello", usage: JSON.parse(TOKENS).usage })}\n\n`;
const REFUSAL = JSON.stringify({ error: { message: "bad key", type: "invalid_request_error" } });

let upstream: UploadUpstream;
let gateway: WiredGateway;
let scoped: string;

const BYTES_MAX = 1024 * 1024;

beforeAll(async () => {
  upstream = await uploadUpstream(
    ({ head, body }) => {
      const text = body.toString("latin1");
      if (/variations/.test(head)) return { contentType: "application/json", body: REFUSAL, status: 401 };
      if (text.includes('name="stream"')) return { contentType: "text/event-stream", body: EVENTS };
      if (/^POST \/v1\/images/.test(head)) return { contentType: "application/json", body: IMAGES };
      if (text.includes("vtt"))
        return { contentType: "text/vtt", body: "WEBVTT\n\n00:00.000 --> 01:17.123\nhello\n" };
      return { contentType: "application/json", body: text.includes("whisper") ? DURATION : TOKENS };
    },
    { early: (head) => /variations/.test(head) },
  );
  gateway = await wiredGateway(
    { chat: `${upstream.url}/v1`, messages: upstream.url },
    { MULTIPART_BYTES_MAX: String(BYTES_MAX) },
  );
  await gateway.admin("POST", "/prices", {
    model: "gpt-4o-transcribe",
    effective_from: "2020-01-01",
    input: "2.5",
    output: "10",
  });
  const key = { name: "scoped", scopes: { models: ["gpt-image-1", "gpt-4o-transcribe"] } };
  scoped = (await gateway.admin<{ secret: string }>("POST", "/keys", key)).secret;
});
type Part = [name: string, content: string | Uint8Array, filename?: string];

function form(parts: readonly Part[], boundary = "b--'(x)"): Buffer {
  const one = ([name, content, filename]: Part) =>
    Buffer.concat([
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n\r\n`,
      ),
      Buffer.from(content as string),
      Buffer.from("\r\n"),
    ]);
  return Buffer.concat([...parts.map(one), Buffer.from(`--${boundary}--\r\n`)]);
}

const SOUND = new Uint8Array(200_000).map((_, at) => (at * 7919) % 251);
const FILE: Part = ["file", SOUND, "a.mp3"];
const TYPE = `multipart/form-data; boundary="b--'(x)"`;

async function send(
  path: string,
  body: Buffer | ReadableStream,
  it: { secret?: string; session?: string } = {},
) {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${it.secret ?? gateway.secret}`,
      "content-type": TYPE,
      "x-session-id": it.session ?? newId(),
      "x-secret-thing": "stays",
    },
    body: body as BodyInit,
  });
}

const TRANSCRIPTIONS = "/v1/audio/transcriptions";
const sentence = async (answer: Response) =>
  ((await answer.json()) as { error: { message: string } }).error.message;

describe("an upload", () => {
  test("reaches the provider byte for byte, with its own length, boundary and nothing of x-", async () => {
    const session = newId();
    const body = form([["model", "gpt-4o-transcribe"], ["user", "ada"], FILE]);
    const answer = await send(TRANSCRIPTIONS, body, { session, secret: scoped });
    expect(await answer.text()).toBe(TOKENS);
    const seen = upstream.seen.at(-1);
    expect(seen?.body.equals(body)).toBe(true);
    expect(seen?.head).toContain(`Content-Length: ${body.length}`);
    expect(seen?.head).toContain(TYPE);
    expect(seen?.head).not.toContain("x-secret");
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({
      state: "ok",
      model: "gpt-4o-transcribe",
      user_label: "ada",
      input_tokens: 30,
      output_tokens: 7,
      cost_usd: "0.0002325",
      unpriced: false,
    });
  });

  test("of the official client is metered by the images that come back", async () => {
    const session = newId();
    const client = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const image = new File([SOUND], "a.png", { type: "image/png" });
    const answer = await client.images.edit(
      { model: "gpt-image-1", prompt: "a hat", image: [image, image] },
      { headers: { "x-session-id": session } },
    );
    expect(answer.data?.length).toBe(2);
    const [record] = await gateway.sql`select images, state from requests where session = ${session}`.then(
      async (rows) => (rows.length > 0 ? rows : await gateway.records(session)),
    );
    expect(record).toMatchObject({ images: 2, state: "ok" });
  });

  test("that asks for a stream gets it, and it is metered by its last event", async () => {
    const session = newId();
    const client = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const stream = await client.audio.transcriptions.create(
      { model: "gpt-4o-transcribe", stream: true, file: new File([SOUND], "a.mp3") },
      { headers: { "x-session-id": session } },
    );
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(["transcript.text.delta", "transcript.text.done"]);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({
      state: "ok",
      streamed: true,
      cost_usd: "0.0002325",
      usage_source: "provider",
    });
  });

  test("with the stream asked for behind the file is metered by its last event, too", async () => {
    const session = newId();
    const body = form([["model", "gpt-4o-transcribe"], FILE, ["stream", "true"]]);
    const answer = await send(TRANSCRIPTIONS, body, { session });
    expect(await answer.text()).toBe(EVENTS);
    expect(await gateway.records(session)).toMatchObject([{ state: "ok", cost_usd: "0.0002325" }]);
  });

  test.each(["True", "1", "yes", "", "null", " true"])(
    "whose stream is %j is refused as in JSON, wherever it is, and never ends at the provider",
    async (stream) => {
      const wholes = () => upstream.seen.filter(({ whole }) => whole).length;
      const before = wholes();
      for (const fields of [
        [["model", "gpt-4o-transcribe"], ["stream", stream], FILE],
        [
          ["model", "gpt-4o-transcribe"],
          ["file", new Uint8Array(900_000), "a.mp3"],
          ["stream", stream],
        ],
      ] satisfies Parameters<typeof form>[0][]) {
        const answer = await send(TRANSCRIPTIONS, form(fields));
        expect([answer.status, await answer.json()]).toMatchObject([
          400,
          { error: { type: "invalid_request_error", message: "`stream` must be true or false." } },
        ]);
      }
      expect(wholes()).toBe(before);
    },
  );

  test("that its provider refuses before it is whole gets that refusal", async () => {
    const session = newId();
    const body = form([
      ["model", "gpt-image-1"],
      ["image", new Uint8Array(900_000), "a.png"],
    ]);
    const answer = await send("/v1/images/variations", body, { session });
    expect(answer.status).toBe(401);
    expect(await answer.text()).toBe(REFUSAL);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ state: "upstream_error", status: 401, cost_usd: "0" });
  });

  test("whose provider tells a duration without a price, or no JSON, is unpriced, and no seconds are stored", async () => {
    for (const [parts, usage_source] of [
      [[["model", "gpt-whisper"], FILE], "provider"],
      [[["model", "gpt-4o-transcribe"], ["response_format", "vtt"], FILE], "none"],
    ] as [Part[], string][]) {
      const session = newId();
      const answer = await send(TRANSCRIPTIONS, form(parts), { session });
      expect(answer.status).toBe(200);
      const [record] = await gateway.records(session);
      expect(record).toMatchObject({ state: "ok", unpriced: true, cost_usd: null, usage_source });
      expect(JSON.stringify(record)).not.toMatch(/77123/);
    }
  });

  test("that is small may have its model behind the file if the key has no scope", async () => {
    const session = newId();
    const body = form([FILE, ["model", "gpt-4o-transcribe"], ["user", "ada"]]);
    const answer = await send(TRANSCRIPTIONS, body, { session });
    expect([answer.status, await answer.text()]).toEqual([200, TOKENS]);
    expect(upstream.seen.at(-1)?.body.equals(body)).toBe(true);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ state: "ok", model: "gpt-4o-transcribe", cost_usd: "0.0002325" });
  });

  test("of a scoped key is refused before the provider is called if its model is missing or another", async () => {
    const before = upstream.seen.length;
    const none = await send(TRANSCRIPTIONS, form([FILE]), { secret: scoped });
    expect(none.status).toBe(403);
    expect(await sentence(none)).toContain("put `model` before the file");
    for (const parts of [
      [FILE, ["model", "gpt-other"]],
      [FILE, ["model", "gpt-4o-transcribe"], ["model", "gpt-other"]],
    ] as Part[][]) {
      expect((await send(TRANSCRIPTIONS, form(parts), { secret: scoped })).status).toBe(403);
    }
    const foreign = await send(TRANSCRIPTIONS, form([["model", "gpt-other"], FILE]), { secret: scoped });
    expect(foreign.status).toBe(403);
    const twice = await send(
      TRANSCRIPTIONS,
      form([["model", "gpt-4o-transcribe"], ["model", "gpt-other"], FILE]),
      { secret: scoped },
    );
    expect(twice.status).toBe(403);
    expect(upstream.seen.length).toBe(before);
  });

  test.each([
    ["images/edits", "image", "gpt-image-1"],
    ["images/variations", "image", "gpt-image-1"],
    ["audio/transcriptions", "file", "gpt-4o-transcribe"],
  ])(
    "of a scoped key to %s is refused if its model follows the file, whatever the size",
    async (path, file, model) => {
      const before = upstream.seen.length;
      for (const size of [1, 200_000]) {
        const body = form([
          [file, SOUND.subarray(0, size), "a.bin"],
          ["model", model],
        ]);
        expect((await send(`/v1/${path}`, body, { secret: scoped })).status).toBe(403);
      }
      expect(upstream.seen.length).toBe(before);
    },
  );

  test("of a scoped key that names another model behind the file never ends at the provider", async () => {
    const session = newId();
    const large = new Uint8Array(900_000).fill(65);
    const body = form([
      ["model", "gpt-4o-transcribe"],
      ["file", large, "a.mp3"],
      ["model", "gpt-other"],
    ]);
    const answer = await send(TRANSCRIPTIONS, body, { secret: scoped, session });
    expect(answer.status).toBe(403);
    const seen = upstream.seen.at(-1);
    await until(() => seen?.gone === true);
    expect(seen?.whole).toBe(false);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ state: "denied", error_type: "model_not_allowed", cost_usd: "0" });
  });

  test("of a key without scopes may have its model behind the file: the only provider gets it, and it is recorded", async () => {
    const session = newId();
    const answer = await send(TRANSCRIPTIONS, form([FILE, ["model", "gpt-4o-transcribe"]]), { session });
    expect(answer.status).toBe(200);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ model: "gpt-4o-transcribe", cost_usd: "0.0002325", route: "(direct)" });
  });

  test("over the limit is 413, declared or not, and the provider never sees it end", async () => {
    const body = form([
      ["model", "gpt-4o-transcribe"],
      ["file", new Uint8Array(BYTES_MAX), "a.mp3"],
    ]);
    const before = upstream.seen.length;
    expect((await send(TRANSCRIPTIONS, body)).status).toBe(413);
    expect(upstream.seen.length).toBe(before);
    const chunked = new ReadableStream({
      start(controller) {
        for (let at = 0; at < body.length; at += 65_536) controller.enqueue(body.subarray(at, at + 65_536));
        controller.close();
      },
    });
    expect((await send(TRANSCRIPTIONS, chunked)).status).toBe(413);
    expect(upstream.seen.slice(before).some(({ whole }) => whole)).toBe(false);
  });

  test("whose client leaves in the middle never ends at the provider and is recorded as left", async () => {
    const session = newId();
    const body = form([
      ["model", "gpt-4o-transcribe"],
      ["file", new Uint8Array(600_000), "a.mp3"],
    ]);
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    const before = upstream.seen.length;
    socket.write(
      `POST ${TRANSCRIPTIONS} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${gateway.secret}\r\nx-session-id: ${session}\r\ncontent-type: ${TYPE}\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, 300_000));
    await until(() => upstream.seen.length > before);
    socket.resetAndDestroy();
    const seen = upstream.seen.at(-1);
    await until(() => seen?.gone === true);
    expect(seen?.whole).toBe(false);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ state: "client_gone", cost_usd: "0" });
  });

  test.each([
    ["`auto`", [["model", "auto"], FILE], "has no routes"],
    ["a route's name", [["model", "chat"], FILE], "has no routes"],
    ["a model that is a file", [["model", "gpt-4o-transcribe", "m.txt"], FILE], "plain text field"],
    ["two models", [["model", "gpt-4o"], ["model", "gpt-4o"], FILE], "twice"],
  ] as [string, Part[], string][])("with %s is 400", async (_, parts, words) => {
    const answer = await send(TRANSCRIPTIONS, form(parts));
    expect(answer.status).toBe(400);
    expect(await sentence(answer)).toContain(words);
  });

  test("that is no form, or breaks a form's rules, is refused", async () => {
    const post = (type: string, body: string) =>
      fetch(gateway.url + TRANSCRIPTIONS, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.secret}`, "content-type": type },
        body,
      });
    expect((await post("application/json", '{"model":"gpt-4o"}')).status).toBe(415);
    expect((await post("multipart/form-data", "--x--\r\n")).status).toBe(400);
    const named = "--x\r\nContent-Disposition: form-data; name=a; name*=utf-8''model\r\n\r\ngpt\r\n--x--\r\n";
    expect((await post("multipart/form-data; boundary=x", named)).status).toBe(400);
  });
});
