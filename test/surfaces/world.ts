import { randomBytes } from "node:crypto";
import { newId } from "#shared/ids.ts";
import { type Reply, type SeenRequest, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { VENDOR_CREDENTIAL, wiredGateway } from "#test/support/wired-gateway.ts";

/** Sound as a vendor would send it: bytes of no format in particular. */
export const SOUND = new Uint8Array(randomBytes(200_000));

const image = { b64_json: "iVBORw0K" };
const events = (reply: Reply, list: object[]) => {
  reply.head("text/event-stream");
  for (const event of list) reply.chunk(`data: ${JSON.stringify(event)}\n\n`);
  reply.end();
};

type Asked = { model?: string; way?: string; n?: number; stream?: boolean; stream_format?: string };

/** A vendor that speaks the newer surfaces, by the end of the address; the body's `way` says how well. */
const VENDOR: Record<string, (asked: Asked, reply: Reply) => void> = {
  "/audio/speech": speak,
  "/images/generations": paint,
  "/rerank": (_, reply) => reply.json({ id: "r", results: [], meta: { billed_units: { search_units: 1 } } }),
  "/moderations": (_, reply) => reply.json({ id: "modr", model: "omni", results: [] }),
  "/count_tokens": (_, reply) => reply.json({ input_tokens: 2095 }),
  "/embeddings": ({ model }, reply) =>
    reply.json({ object: "list", data: [], model, usage: { prompt_tokens: 5, total_tokens: 5 } }),
};

function play({ path, body }: SeenRequest, reply: Reply): void {
  const asked: Asked = JSON.parse(body);
  const [, act] = Object.entries(VENDOR).find(([end]) => path.split("?")[0]?.endsWith(end)) ?? [];
  if (asked.way === "busy") reply.json({ error: { message: "busy" } }, 503, { "retry-after": "3" });
  else if (act) act(asked, reply);
  else reply.json({ error: { message: "nothing here" } }, 404);
}

function paint({ n = 1, way, stream }: Asked, reply: Reply): void {
  const made = Array.from({ length: n - (way === "partly" ? 1 : 0) }, () => image);
  if (!stream) {
    reply.json({ created: 1, data: made });
    return;
  }
  const completed = made.map((it) => ({ type: "image_generation.completed", ...it }));
  events(reply, [{ type: "image_generation.partial_image", ...image }, ...completed]);
}

function speak(asked: Asked, reply: Reply): void {
  if (asked.stream_format === "sse") {
    const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };
    events(reply, [
      { type: "speech.audio.delta", audio: "//" },
      { type: "speech.audio.done", usage },
    ]);
    return;
  }
  reply.head("audio/mpeg", 200, { "x-request-id": "req_sound" });
  const until = asked.way === "broken" ? SOUND.length / 2 : SOUND.length;
  for (let from = 0; from < until; from += 33_333) {
    const part = SOUND.subarray(from, from + 33_333);
    reply.raw(`${part.length.toString(16)}\r\n`);
    reply.raw(part);
    reply.raw("\r\n");
  }
  if (asked.way === "broken") reply.close();
  else if (asked.way !== "endless") reply.end();
}

/** A gateway of a first start, before one vendor of OpenAI's kind (`gpt-*`) and one of Anthropic's. */
export async function surfacesWorld() {
  const upstream = await scriptedUpstream(play);
  const gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  const post = (
    path: string,
    body: unknown,
    it: { session?: string; secret?: string; headers?: object } = {},
  ) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${it.secret ?? gateway.secret}`,
        "content-type": "application/json",
        ...(it.session ? { "x-session-id": it.session } : {}),
        ...it.headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  /** A call that is answered, and its record. */
  const recorded = async (path: string, body: object) => {
    const session = newId();
    const answer = await post(path, body, { session });
    const bytes = await answer.bytes().catch(() => null);
    const [record] = await gateway.records(session);
    if (!record) throw new Error("no record");
    return { answer, bytes, json: () => JSON.parse(Buffer.from(bytes ?? []).toString()), record };
  };
  /** A further vendor at the same address. */
  const vendor = (name: string, kind: string, models: string[]) =>
    gateway.admin("PUT", `/providers/${name}`, {
      kind,
      base_url: kind === "cohere" ? `${upstream.url}/compatibility/v1` : `${upstream.url}/v1`,
      credential: VENDOR_CREDENTIAL,
      allow_private_network: true,
      enabled: true,
      models,
    });
  const close = async () => {
    await gateway.close();
    await upstream.close();
  };
  return { upstream, gateway, post, recorded, vendor, close };
}
