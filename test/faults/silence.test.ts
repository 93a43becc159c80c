import { beforeAll, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { type Reply, type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Longer than the 30 s after which the server would close a quiet connection by its own default.

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let play: (reply: Reply) => void | Promise<void> = () => undefined;

beforeAll(async () => {
  upstream = await scriptedUpstream((_request, reply) => play(reply));
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

/** One call to the end of its answer. */
async function call(session: string, body: object): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
    body: JSON.stringify({ model: "chat", ...body }),
    timeout: false,
  } as BunFetchRequestInit);
  return { status: answer.status, text: await answer.text() };
}

const EVENT = `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n`;
const END = `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\ndata: [DONE]\n\n`;
const PLAIN = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
const ASKED = { stream: true, stream_options: { include_usage: true } };

test("a silence of 33 seconds survives: before an answer, before its first event, and between two events", async () => {
  const silence = 33_000;
  const begun = performance.now();
  const sessions = [newId(), newId(), newId()] as const;
  // The script is taken up when the provider has the request, so the calls are begun one after the other.
  const calls: Promise<{ status: number; text: string }>[] = [];
  const begin = async (session: string, body: object, script: (reply: Reply) => Promise<void>) => {
    const seen = upstream.seen.length;
    play = script;
    calls.push(call(session, body));
    await until(() => upstream.seen.length > seen);
  };
  await begin(sessions[0], {}, async (reply) => {
    await Bun.sleep(silence);
    reply.json(PLAIN);
  });
  await begin(sessions[1], ASKED, async (reply) => {
    reply.head("text/event-stream");
    await Bun.sleep(silence);
    reply.chunk(EVENT + END);
    reply.end();
  });
  await begin(sessions[2], ASKED, async (reply) => {
    reply.head("text/event-stream");
    reply.chunk(EVENT);
    await Bun.sleep(silence);
    reply.chunk(END);
    reply.end();
  });
  expect(await Promise.all(calls)).toEqual([
    { status: 200, text: JSON.stringify(PLAIN) },
    { status: 200, text: EVENT + END },
    { status: 200, text: EVENT + END },
  ]);
  expect(performance.now() - begun).toBeGreaterThan(silence);
  for (const session of sessions) {
    const [row] = await gateway.records(session);
    expect(row).toMatchObject({ state: "ok", output_tokens: 2, attempts: 1 });
    expect(row?.latency_ms).toBeGreaterThan(silence);
  }
});
