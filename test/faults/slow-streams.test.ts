import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { rawConnection, rawPost } from "#test/support/raw-client.ts";
import { residentBytes, settledBytes } from "#test/support/resident-bytes.ts";
import { type Reply, type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredProcess, wiredProcess } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let flood: Bun.Server<undefined>;
let gateway: WiredProcess;
let play: (reply: Reply) => void | Promise<void> = () => undefined;

const PIECE = Buffer.from(`: ${"x".repeat(65_533)}\n`);
const FLOOD_PIECES = 1024;
const FLOOD_END = Buffer.from("data: [DONE]\n\n");
/** Pieces that the flooding provider was asked for so far. */
let poured = 0;

/** A provider that writes 64 MiB as fast as it is read, and no faster. */
function pour(): Response {
  poured = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await Bun.sleep(0);
        controller.enqueue(poured < FLOOD_PIECES ? PIECE : FLOOD_END);
        if (poured === FLOOD_PIECES) controller.close();
        poured += 1;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

beforeAll(async () => {
  upstream = await scriptedUpstream((_request, reply) => play(reply));
  flood = Bun.serve({ port: 0, hostname: "127.0.0.1", development: false, idleTimeout: 255, fetch: pour });
  gateway = await wiredProcess(
    { chat: `${upstream.url}/v1`, messages: `http://127.0.0.1:${flood.port}` },
    { LOG_LEVEL: "info" },
  );
});

afterAll(async () => {
  await flood.stop(true);
});

const headers = (session: string) => ({ authorization: `Bearer ${gateway.secret}`, "x-session-id": session });

/** One call to the end of its answer. */
async function call(session: string, body: object): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: headers(session),
    body: JSON.stringify({ model: "chat", ...body }),
    timeout: false,
  } as BunFetchRequestInit);
  return { status: answer.status, text: await answer.text() };
}

const EVENT = `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n`;
const END = `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\ndata: [DONE]\n\n`;
const PLAIN = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
const ASKED = { stream: true, stream_options: { include_usage: true } };

describe("a client that does not read", () => {
  test.if(HAS_PROC)(
    "stops the provider instead of filling memory, and gets every byte once it reads",
    async () => {
      const session = newId();
      const before = (await settledBytes(gateway.pid())) / 1024 ** 2;
      const body = JSON.stringify({ model: "claude", stream: true });
      const connection = rawConnection(gateway.url, rawPost("/v1/messages", headers(session), body));
      connection.socket.pause();
      await until(() => poured > 0);
      let last = -1;
      await until(async () => {
        const stands = poured === last;
        last = poured;
        await Bun.sleep(300);
        return stands;
      });
      expect(last).toBeLessThan(FLOOD_PIECES / 2);
      expect((await residentBytes(gateway.pid())) / 1024 ** 2 - before).toBeLessThan(48);
      connection.socket.resume();
      await until(() => connection.socket.bytesRead >= FLOOD_PIECES * PIECE.length + FLOOD_END.length);
      const answer = await connection.answer();
      expect([answer.status, answer.whole]).toEqual([200, true]);
      expect(answer.body.byteLength).toBe(FLOOD_PIECES * PIECE.length + FLOOD_END.length);
      expect(answer.body.subarray(-FLOOD_END.length).equals(FLOOD_END)).toBe(true);
    },
  );
});

test("SIGTERM lets running answers end, takes no new connection, and loses no record", async () => {
  const sessions = Array.from({ length: 12 }, () => newId());
  const refusing = Promise.withResolvers<void>();
  let open = 0;
  play = async (reply) => {
    const streamed = open++ % 3 > 0;
    if (streamed) reply.head("text/event-stream");
    if (streamed) for (let n = 0; n < 7; n++) reply.chunk(EVENT);
    await refusing.promise;
    if (streamed) for (let n = 7; n < 15; n++) reply.chunk(EVENT);
    if (!streamed) return reply.json(PLAIN);
    reply.chunk(END);
    reply.end();
  };
  const answers: Promise<{ status: number; text: string }>[] = [];
  for (const [n, session] of sessions.entries()) {
    answers.push(call(session, n % 3 > 0 ? ASKED : {}));
    await until(() => open > n);
  }
  const stopped = gateway.stop();
  await until(() =>
    fetch(`${gateway.url}/readyz`, { keepalive: false }).then(
      () => false,
      () => true,
    ),
  );
  const late = await call(newId(), {}).catch(() => "refused");
  refusing.resolve();
  expect(late).toBe("refused");
  for (const [n, answer] of (await Promise.all(answers)).entries()) {
    expect(answer).toEqual({ status: 200, text: n % 3 > 0 ? EVENT.repeat(15) + END : JSON.stringify(PLAIN) });
  }
  await stopped;
  expect(gateway.log()).toContain("gateway stopped");
  // Nothing is left for a next process: the records are all in Postgres by now.
  const rows = await gateway.sql<{ session: string; state: string; output_tokens: number }[]>`
    select session, state, output_tokens from requests where session in ${gateway.sql(sessions)}`;
  expect(rows.map(({ session }) => session).sort()).toEqual([...sessions].sort());
  expect(rows.filter(({ state, output_tokens }) => state !== "ok" || output_tokens !== 2)).toEqual([]);
});
