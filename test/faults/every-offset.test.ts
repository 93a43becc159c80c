import { afterAll, beforeAll, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { isFaultRun } from "#test/support/fault-run.ts";
import { type RawAnswer, rawAnswer, rawPost } from "#test/support/raw-client.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

/** Long enough to hold every kind of place: inside an event, between two, inside the last one. */
const BYTES = 4096;
const AT_ONCE = 32;

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const event = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const LAST =
  'data: {"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":33,"total_tokens":47}}\n\ndata: [DONE]\n\n';

/** An answer of `BYTES` bytes, framing included, without the bytes that end it. */
function unendedAnswer(): string {
  const framed = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  let answer = HEAD;
  while (answer.length + framed(LAST).length + framed(event("word")).length < BYTES)
    answer += framed(event("word"));
  return answer + framed(LAST);
}

const ANSWER = unendedAnswer();
/** From here on the wire's own last event is out: the answer is whole, whatever becomes of its framing. */
const TERMINAL = ANSWER.indexOf("[DONE]") + "[DONE]\n\n".length;

let upstream: ScriptedUpstream;
let gateway: WiredGateway;

beforeAll(async () => {
  upstream = await scriptedUpstream((request, reply) => {
    const offset = Number(/cut-at-(\d+)/.exec(request.body)?.[1]);
    reply.raw(ANSWER.slice(0, offset));
    reply.close();
  });
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function cutAt(offset: number, session: string): Promise<[number, RawAnswer]> {
  const request = rawPost(
    "/v1/chat/completions",
    { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
    JSON.stringify({
      model: "chat",
      stream: true,
      messages: [{ role: "user", content: `${session} cut-at-${offset}` }],
    }),
  );
  return [offset, await rawAnswer(gateway.url, request)];
}

/** Outside a fault run every place of the last 256 bytes, which say what was used and that it is whole, and some of the rest. */
const isTried = (offset: number): boolean => isFaultRun || offset > TERMINAL - 256 || offset % 13 === 0;

test("a 4 kB stream cut at any of its bytes never ends cleanly, is never recorded as whole, and is asked for once", async () => {
  const session = newId();
  const offsets = Array.from({ length: TERMINAL - 1 }, (_, index) => index + 1).filter(isTried);
  expect(offsets.length).toBeGreaterThan(isFaultRun ? BYTES - 400 : 500);
  const clean: number[] = [];
  for (let from = 0; from < offsets.length; from += AT_ONCE) {
    const answers = await Promise.all(offsets.slice(from, from + AT_ONCE).map((at) => cutAt(at, session)));
    clean.push(
      ...answers.filter(([, { status, whole }]) => status === 200 && whole).map(([offset]) => offset),
    );
  }
  expect(clean).toEqual([]);
  expect(upstream.seen.length).toBe(offsets.length);
  await until(async () => (await gateway.records(session)).length === offsets.length);
  const rows = await gateway.records(session);
  expect(rows.length).toBe(offsets.length);
  expect(rows.filter(({ state }) => state === "ok")).toEqual([]);
});
