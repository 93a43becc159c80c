import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import {
  type RawAnswer,
  type RawConnection,
  rawAnswer,
  rawConnection,
  rawPost,
} from "#test/support/raw-client.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
/** What the provider does with a request. */
let play: (reply: Reply, request: SeenRequest) => void | Promise<void> = () => undefined;
/** Resolves once the gateway has seen that the client left. */
let left = Promise.withResolvers<void>();

async function leave(connection: RawConnection): Promise<void> {
  connection.socket.resetAndDestroy();
  await gateway.caughtUp();
  left.resolve();
}

beforeAll(async () => {
  upstream = await scriptedUpstream((request, reply) => play(reply, request));
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  // Another provider that would answer, if a call that broke off were tried again.
  const again = [{ provider: "chat-vendor", model: "gpt-4o-mini" }];
  await gateway.admin("PATCH", "/routes/chat", { fallbacks: again });
  await gateway.admin("PATCH", "/routes/claude", {
    fallbacks: [{ provider: "messages-vendor", model: "claude-haiku-4-5" }],
  });
  await gateway.admin("PUT", "/routes/cancelling", {
    surface: "chat",
    provider: "chat-vendor",
    model: "gpt-4o",
    on_client_gone: "cancel",
  });
});

const CHAT = { path: "/v1/chat/completions", model: "chat" };
const MESSAGES = { path: "/v1/messages", model: "claude" };
type Surface = typeof CHAT;

const request = ({ path, model }: Surface, session: string, body: object = {}) =>
  rawPost(
    path,
    { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
    JSON.stringify({ model, messages: [{ role: "user", content: session }], ...body }),
  );

/** How often the provider was asked for a call. */
const asked = (session: string) => upstream.seen.filter(({ body }) => body.includes(session)).length;

const chatEvent = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const CHAT_END = `data: {"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":33,"total_tokens":47}}\n\ndata: [DONE]\n\n`;
const messagesEvent = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const delta = (text: string) =>
  messagesEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } } as {
    type: string;
  });
const MESSAGES_START = messagesEvent({
  type: "message_start",
  message: { model: "claude-opus-4-6", usage: { input_tokens: 14, output_tokens: 1 } },
} as { type: string });
const MESSAGES_END =
  messagesEvent({
    type: "message_delta",
    delta: { stop_reason: "end_turn" },
    usage: { output_tokens: 33 },
  } as {
    type: string;
  }) + messagesEvent({ type: "message_stop" });

const WIRES = [
  { surface: CHAT, start: "", event: chatEvent, end: CHAT_END },
  { surface: MESSAGES, start: MESSAGES_START, event: delta, end: MESSAGES_END },
];

describe.each(WIRES)("a client of $surface.path that leaves", ({ surface, start, event, end }) => {
  beforeEach(() => {
    left = Promise.withResolvers();
  });
  /** The provider sends ten events, the client leaves after one of them, and the end comes all the same. */
  const goOn = async (reply: Reply, after: number) => {
    reply.head("text/event-stream");
    if (start) reply.chunk(start);
    for (let n = 0; n < 10; n++) {
      reply.chunk(event(`word-${n} `));
      if (n === after) await left.promise;
    }
    reply.chunk(end);
    reply.end();
  };

  test.each([0, 1, 5, 9])(
    "after event %d is recorded as gone, with the provider's exact figures",
    async (n) => {
      const session = newId();
      play = (reply) => goOn(reply, n);
      const connection = rawConnection(gateway.url, request(surface, session, { stream: true }));
      await until(() => connection.bytes().includes(`word-${n} `));
      await leave(connection);
      const [row] = await gateway.records(session);
      expect(row).toMatchObject({
        state: "client_gone",
        status: 200,
        usage_source: "provider",
        input_tokens: 14,
        output_tokens: 33,
        partial: false,
        unpriced: false,
      });
      expect(asked(session)).toBe(1);
    },
  );

  test("before the first byte of a stream is recorded likewise", async () => {
    const session = newId();
    const arrived = Promise.withResolvers<void>();
    play = async (reply) => {
      arrived.resolve();
      await left.promise;
      await goOn(reply, -1);
    };
    const connection = rawConnection(gateway.url, request(surface, session, { stream: true }));
    await arrived.promise;
    await leave(connection);
    const [row] = await gateway.records(session);
    expect(row).toMatchObject({ state: "client_gone", input_tokens: 14, output_tokens: 33, partial: false });
  });

  test("before a plain answer is recorded likewise", async () => {
    const session = newId();
    const arrived = Promise.withResolvers<void>();
    play = async (reply) => {
      arrived.resolve();
      await left.promise;
      const usage = { prompt_tokens: 14, completion_tokens: 33, input_tokens: 14, output_tokens: 33 };
      reply.json({ choices: [], content: [], usage });
    };
    const connection = rawConnection(gateway.url, request(surface, session));
    await arrived.promise;
    await leave(connection);
    const [row] = await gateway.records(session);
    expect(row).toMatchObject({ state: "client_gone", input_tokens: 14, output_tokens: 33, partial: false });
  });

  test("of a provider that then breaks off too is recorded once, and claims no exact figure", async () => {
    const session = newId();
    play = async (reply) => {
      reply.head("text/event-stream");
      if (start) reply.chunk(start);
      reply.chunk(event("word-0 "));
      await left.promise;
      reply.reset();
    };
    const connection = rawConnection(gateway.url, request(surface, session, { stream: true }));
    await until(() => connection.bytes().includes("word-0 "));
    await leave(connection);
    const rows = await gateway.records(session);
    expect(rows.length).toBe(1);
    expect(rows[0]).toMatchObject({ state: "client_gone" });
    expect(rows[0]?.partial || rows[0]?.unpriced).toBe(true);
  });
});

test("where the route says so, the provider is stopped when the client leaves", async () => {
  const session = newId();
  const stopped = Promise.withResolvers<void>();
  play = async (reply) => {
    reply.head("text/event-stream");
    while (!reply.gone()) {
      reply.chunk(chatEvent("word "));
      await Bun.sleep(5);
    }
    stopped.resolve();
  };
  const connection = rawConnection(
    gateway.url,
    request({ ...CHAT, model: "cancelling" }, session, { stream: true }),
  );
  await until(() => connection.bytes().includes("word "));
  connection.socket.destroy();
  await stopped.promise;
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ state: "client_gone" });
  expect(row?.partial || row?.unpriced).toBe(true);
});

/** A provider's whole HTTP answer of about 4 kB, and from which byte on it is complete for a reader of its events. */
type Whole = { name: string; surface: Surface; stream: boolean; text: string; terminal: number };

const HEAD = "HTTP/1.1 200 OK\r\nx-request-id: req\r\n";
const chunksOf = (...parts: string[]) =>
  `${parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join("")}0\r\n\r\n`;
const words = (event: (content: string) => string) =>
  Array.from({ length: 36 }, (_, n) => event(`word-${n} é`));

function streamOf(framing: "chunks" | "length", wire: (typeof WIRES)[number]): Whole {
  const parts = [...(wire.start ? [wire.start] : []), ...words(wire.event), wire.end];
  const type = "content-type: text/event-stream\r\n";
  const text =
    framing === "chunks"
      ? `${HEAD}${type}transfer-encoding: chunked\r\n\r\n${chunksOf(...parts)}`
      : `${HEAD}${type}content-length: ${Buffer.byteLength(parts.join(""))}\r\n\r\n${parts.join("")}`;
  // The events are complete with the line break that ends the last one.
  const last = Buffer.from(text).lastIndexOf(wire.end.trimEnd().split("\n").at(-1) ?? "");
  const terminal = last + (wire.end.trimEnd().split("\n").at(-1) ?? "").length + 1;
  return {
    name: `${wire.surface.path}, a stream with ${framing}`,
    surface: wire.surface,
    stream: true,
    text,
    terminal,
  };
}

function jsonOf(framing: "chunks" | "length" | "neither"): Whole {
  const body = JSON.stringify({
    choices: [{ message: { content: "é".repeat(1900) } }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });
  const type = "content-type: application/json\r\n";
  const framed = {
    chunks: `transfer-encoding: chunked\r\n\r\n${chunksOf(body.slice(0, 900), body.slice(900))}`,
    length: `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    neither: `connection: close\r\n\r\n${body}`,
  }[framing];
  const text = HEAD + type + framed;
  // Without its last chunk of no bytes an answer still has all of its own.
  const terminal = Buffer.byteLength(text) - (framing === "chunks" ? "0\r\n\r\n".length : 0);
  return {
    name: `a plain answer with ${framing}`,
    surface: CHAT,
    stream: false,
    text,
    terminal,
  };
}

const ANSWERS = [
  ...WIRES.map((wire) => streamOf("chunks", wire)),
  ...WIRES.map((wire) => streamOf("length", wire)),
  jsonOf("chunks"),
  jsonOf("length"),
  jsonOf("neither"),
];
const CUTS = 48;
const AT_ONCE = 12;

describe.each(ANSWERS)("a provider that breaks off: $name:", ({ surface, stream, text, terminal }) => {
  test.each(["closes", "resets"] as const)(
    "wherever it %s, the client sees a broken answer, the record says so, and nobody is asked again",
    async (way) => {
      const bytes = Buffer.from(text);
      const sessions = new Map<string, number>();
      play = async (reply, { body }) => {
        const session = JSON.parse(body).messages[0].content as string;
        reply.raw(bytes.subarray(0, sessions.get(session) ?? 0));
        // Lets the bytes leave before the reset overtakes them.
        await Bun.sleep(3);
        if (way === "closes") reply.close();
        else reply.reset();
      };
      const offsets = Array.from(
        { length: CUTS },
        (_, n) => 1 + Math.floor((n * (terminal - 2)) / (CUTS - 1)),
      );
      const cutAt = async (offset: number): Promise<[number, string, RawAnswer]> => {
        const session = newId();
        sessions.set(session, offset);
        return [offset, session, await rawAnswer(gateway.url, request(surface, session, { stream }))];
      };
      const answers: [number, string, RawAnswer][] = [];
      for (let n = 0; n < offsets.length; n += AT_ONCE) {
        answers.push(...(await Promise.all(offsets.slice(n, n + AT_ONCE).map(cutAt))));
      }
      const clean = answers.filter(([, , answer]) => answer.status === 200 && answer.whole);
      expect(clean.map(([offset]) => offset)).toEqual([]);
      // A connection without an answer is one that the client may try again, as 502 is.
      expect(
        answers.map(([, , { status }]) => status).filter((status) => ![0, 200, 502].includes(status)),
      ).toEqual([]);
      for (const [offset, session] of answers) {
        const rows = await gateway.records(session);
        expect([offset, rows.map(({ state }) => state)]).toEqual([
          offset,
          [expect.stringMatching(/^upstream_(broken|error)$/)],
        ]);
        // The provider's own last figure may have come before the cut.
        const exact = rows[0]?.output_tokens === 33;
        expect([offset, rows[0]?.partial || rows[0]?.unpriced || exact]).toEqual([offset, true]);
        expect([offset, asked(session)]).toEqual([offset, 1]);
      }
    },
  );
});
