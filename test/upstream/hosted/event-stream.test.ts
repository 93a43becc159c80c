import { describe, expect, test } from "bun:test";
import { encodeEventStreamFrame } from "@copilotkit/aimock";
import fc from "fast-check";
import { eventsOf } from "#gateway/upstream/hosted/bedrock-answer.ts";
import { frameSplitter } from "#gateway/upstream/hosted/event-stream.ts";

const frame = (headers: Record<string, string>, payload: string | Uint8Array) =>
  encodeEventStreamFrame(headers, Buffer.from(payload as string));
const chunk = (event: object | string) =>
  frame(
    { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
    JSON.stringify({
      bytes: Buffer.from(typeof event === "string" ? event : JSON.stringify(event)).toString("base64"),
      p: "abcdefgh",
    }),
  );

const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
};

describe("AWS's event stream", () => {
  test("gives the same messages however it is cut", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const message = fc.record({
      headers: fc.dictionary(fc.stringMatching(/^:?[a-z-]{1,20}$/), text, { maxKeys: 4 }),
      payload: fc.uint8Array({ maxLength: 200 }),
    });
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (all, places) => {
          const splitter = frameSplitter();
          const bytes = Buffer.concat(all.map(({ headers, payload }) => frame(headers, payload)));
          const got = cut(bytes, places).flatMap((part) => splitter.push(part));
          expect(
            got.map(({ headers, payload }) => ({
              headers: Object.fromEntries(headers),
              payload: [...payload],
            })),
          ).toEqual(all.map(({ headers, payload }) => ({ headers: { ...headers }, payload: [...payload] })));
          expect(splitter.partial()).toBe(false);
        },
      ),
    );
  });

  test("with any byte changed is no message, and never another one", () => {
    const bytes = frame({ ":event-type": "chunk", ":message-type": "event" }, '{"bytes":"e30="}');
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      const splitter = frameSplitter();
      expect(() => splitter.push(damaged)).toThrow(RangeError);
    }
  });

  test("reads the texts among headers of every type", () => {
    // A boolean, a number of four bytes, a time, and bytes stand before the text.
    const headers = Buffer.concat([
      Buffer.from([1, 0x61, 0]),
      Buffer.from([1, 0x62, 4, 0, 0, 0, 9]),
      Buffer.from([1, 0x63, 8, 0, 0, 0, 0, 0, 0, 0, 9]),
      Buffer.from([1, 0x64, 6, 0, 2, 7, 7]),
      Buffer.from([1, 0x65, 7, 0, 2, 0x68, 0x69]),
    ]);
    const bytes = Buffer.alloc(12 + headers.length + 4);
    bytes.writeUInt32BE(bytes.length, 0);
    bytes.writeUInt32BE(headers.length, 4);
    bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, 8)), 8);
    headers.copy(bytes, 12);
    bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, -4)), bytes.length - 4);
    expect(frameSplitter().push(bytes)).toEqual([
      { headers: new Map([["e", "hi"]]), payload: Buffer.alloc(0) },
    ]);
  });
});

const streamOf = (parts: readonly Uint8Array[], end: (c: ReadableStreamDefaultController) => void) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      end(controller);
    },
  });
const close = (controller: ReadableStreamDefaultController) => controller.close();
const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).text();

describe("Bedrock's stream", () => {
  test("is Anthropic's, event by event, and nothing of a number is lost", async () => {
    const start =
      '{"type":"message_start","message":{"usage":{"input_tokens":12345678901234567890,"x":1.0}}}';
    const stream = streamOf([chunk(start), chunk({ type: "message_stop" })], close);
    expect(await textOf(eventsOf(stream))).toBe(
      `event: message_start\ndata: ${start}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`,
    );
  });

  test("an event that is written on several lines is one event all the same", async () => {
    const stream = streamOf([chunk('{\n "type": "ping"\n}')], close);
    expect(await textOf(eventsOf(stream))).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  test.each([
    ["throttlingException", "rate_limit_error"],
    ["modelStreamErrorException", "api_error"],
    ["serviceUnavailableException", "overloaded_error"],
  ])("that ends with %s ends with an error event of type %s", async (exception, type) => {
    const headers = { ":exception-type": exception, ":message-type": "exception" };
    const stream = streamOf([frame(headers, '{"message":"what the provider says"}')], close);
    const [name, data = ""] = (await textOf(eventsOf(stream))).trim().split("\n");
    expect(name).toBe("event: error");
    expect(JSON.parse(data.slice("data: ".length))).toEqual({
      type: "error",
      error: { type, message: "what the provider says" },
    });
  });

  test("that ends within a message has broken off", async () => {
    const bytes = chunk({ type: "message_start" });
    await expect(textOf(eventsOf(streamOf([bytes.subarray(0, 30)], close)))).rejects.toThrow("ended early");
    const reset = streamOf([bytes], (controller) => controller.error(new Error("reset")));
    await expect(textOf(eventsOf(reset))).rejects.toThrow();
  });

  test("has a ping in every long silence, and is given up when silence is all there is", async () => {
    let cancelled = false;
    const silent = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    });
    const reader = eventsOf(silent, { pingMs: 4, silenceMs: 12 }).getReader();
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(ping);
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(ping);
    await expect(reader.read()).rejects.toThrow("timeout_idle");
    expect(cancelled).toBe(true);
  });

  test("whose reader leaves is stopped at its source", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array>({ cancel: () => resolve() });
    const reader = eventsOf(endless, { pingMs: 1 }).getReader();
    await reader.read();
    await reader.cancel();
    await promise;
  });
});
