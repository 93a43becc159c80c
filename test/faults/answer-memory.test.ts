import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { HAS_PROC } from "#test/support/processes.ts";
import { rawConnection, rawPost } from "#test/support/raw-client.ts";
import { residentBytes, settledBytes } from "#test/support/resident-bytes.ts";
import { until } from "#test/support/until.ts";
import { type WiredProcess, wiredProcess } from "#test/support/wired-gateway.ts";

const MEBIBYTE = 1024 ** 2;
const PIECE = Buffer.alloc(64 * 1024, "word ");
const BEGINNING = '{"object":"chat.completion","choices":[{"message":{"content":"';
const END = '"}}],"usage":{"prompt_tokens":14,"completion_tokens":33}}';

let vendor: Bun.Server<undefined>;
let gateway: WiredProcess;
/** Pieces that the vendor was asked for, of all answers. */
let poured = 0;

/** A plain answer with as many MiB as its request's `n` says, written as fast as it is read and no faster. */
async function answer(request: Request): Promise<Response> {
  const { n } = (await request.json()) as { n: number };
  const parts = [Buffer.from(BEGINNING), ...Array.from({ length: n * 16 }, () => PIECE), Buffer.from(END)];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await Bun.sleep(0);
        const part = parts.shift();
        poured += 1;
        if (part) controller.enqueue(part);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "application/json" } });
}

beforeAll(async () => {
  vendor = Bun.serve({ port: 0, hostname: "127.0.0.1", development: false, idleTimeout: 255, fetch: answer });
  const url = `http://127.0.0.1:${vendor.port}`;
  gateway = await wiredProcess({ chat: `${url}/v1`, messages: url }, { READER_STALL_SECONDS: "2" });
});

afterAll(async () => {
  await vendor.stop(true);
});

const asked = (session: string, mebibytes: number) => ({
  headers: { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
  body: JSON.stringify({ model: "chat", n: mebibytes }),
});

async function read(session: string, mebibytes: number): Promise<{ status: number; bytes: number }> {
  const { status, body } = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    ...asked(session, mebibytes),
  });
  let bytes = 0;
  for await (const part of body ?? []) bytes += part.byteLength;
  return { status, bytes };
}

const sizeOf = (mebibytes: number) => mebibytes * MEBIBYTE + BEGINNING.length + END.length;
const USAGE = { input_tokens: 14, output_tokens: 33, usage_source: "provider" };

/** Runs `work` and returns how much more memory than before the gateway took at most meanwhile. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = await settledBytes(gateway.pid());
  let most = before;
  const watch = setInterval(
    () => void residentBytes(gateway.pid()).then((now) => (most = Math.max(most, now))),
    20,
  );
  await work();
  clearInterval(watch);
  return most - before;
}

describe.if(HAS_PROC)("plain answers", () => {
  test("three of 60 MiB at once cost less than 150 MiB of memory, and are metered exactly", async () => {
    await read(newId(), 1);
    const sessions = [newId(), newId(), newId()];
    const more = await growth(async () => {
      const answers = await Promise.all(sessions.map((session) => read(session, 60)));
      expect(answers).toEqual(sessions.map(() => ({ status: 200, bytes: sizeOf(60) })));
    });
    for (const session of sessions) {
      expect(await gateway.records(session)).toMatchObject([{ state: "ok", ...USAGE }]);
    }
    expect(more).toBeLessThan(150 * MEBIBYTE);
  });

  test("that nobody reads stop the provider, cost little memory, and are given up", async () => {
    const sessions = Array.from({ length: 8 }, () => newId());
    poured = 0;
    const more = await growth(async () => {
      const connections = sessions.map((session) => {
        const { headers, body } = asked(session, 60);
        const connection = rawConnection(gateway.url, rawPost("/v1/chat/completions", headers, body));
        connection.socket.pause();
        return connection;
      });
      for (const session of sessions) {
        expect(await gateway.records(session)).toMatchObject([{ state: "client_gone" }]);
      }
      for (const { socket } of connections) {
        socket.resume();
        await until(() => socket.destroyed || socket.readableEnded);
      }
      for (const connection of connections) expect((await connection.answer()).whole).toBe(false);
    });
    expect(poured).toBeLessThan(8 * 60 * 8);
    expect(more).toBeLessThan(96 * MEBIBYTE);
  });
});
